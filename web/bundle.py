"""bundle.py OUTPUT index.html studio.css MODULE.js...: the studio's page as one file.

The modules stand in the order of web/page/modules.txt, each after those that it imports from. Their
import and export words are taken out, and all of them share one scope: two of them may not give one name
to different things. --worker FILE puts the engine for a Web Worker in, --header FILE writes a header with
the page's hash. The page may load nothing: its content security policy names the script by its hash.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import base64
import hashlib
import pathlib
import re
import sys

MOST_BYTES = 300_000
IMPORT = re.compile(r"^import\s+\{([^}]*)\}\s+from\s+'\./([\w.]+)';\n", re.M)
EXPORT = re.compile(r"^export\s+(?=(?:const|let|function|async function|class)\s)", re.M)
NAMED = re.compile(r"^export\s+(?:const|let|(?:async )?function|class)\s+([\w$]+)", re.M)
TOP = re.compile(r"^(?:export\s+)?(?:const|let|(?:async )?function|class)\s+([\w$]+)", re.M)


def bundle(modules):
    """One script from (name, text); raises ValueError where the modules do not fit together."""
    exported, top, parts = {}, {}, []
    for name, text in modules:
        for found in IMPORT.finditer(text):
            wanted = {w.strip() for w in found[1].split(",") if w.strip()}
            missing = wanted - exported.get(found[2], set())
            if missing:
                raise ValueError("%s: %s has no %s before it" % (name, found[2], ", ".join(sorted(missing))))
        for found in TOP.finditer(text):
            if found[1] in top:
                raise ValueError("%s: %s is a name in %s, too" % (name, found[1], top[found[1]]))
            top[found[1]] = name
        exported[name] = set(NAMED.findall(text))
        text = EXPORT.sub("", IMPORT.sub("", text))
        if re.search(r"^\s*(import|export)\s", text, re.M):
            raise ValueError("%s: an import or export that is not understood" % name)
        parts.append(text.strip())
    return "(() => {\n'use strict';\n" + "\n".join(parts) + "\n})();\n"


def squeeze_css(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"\s*\n\s*", "\n", text).strip() + "\n"


def squeeze_script(text):
    """Without lines that are comments, and without indentation; templates keep theirs."""
    lines, inside = [], False
    for line in text.split("\n"):
        bare = line.strip()
        if not inside and (bare.startswith("//") or not bare):
            continue
        lines.append(line if inside else bare)
        if line.count("`") % 2:
            inside = not inside
    return re.sub(r"(?m)^/\*.*?\*/\n", "", "\n".join(lines) + "\n", flags=re.S)


def page(html, css, script, worker):
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = ("default-src 'none'; script-src 'sha256-%s' 'wasm-unsafe-eval' blob:; style-src 'unsafe-inline'; "
              "img-src data: blob:; connect-src 'self'; worker-src blob:; base-uri 'none'; "
              "form-action 'none'" % digest)
    html = re.sub(r"<!--.*?-->\n?", "", html, flags=re.S)
    html = html.replace("@POLICY@", policy).replace("/*CSS*/", css)
    holder = ('<script type="text/plain" id="engine">%s</script>\n' % worker) if worker else ""
    return html.replace("<!ENGINE>", holder).replace("<!SCRIPT>", "<script>%s</script>" % script)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--worker")
    parser.add_argument("--header")
    parser.add_argument("output")
    parser.add_argument("html")
    parser.add_argument("css")
    parser.add_argument("module", nargs="+")
    call = parser.parse_args()
    read = lambda p: pathlib.Path(p).read_text(encoding="utf-8")
    try:
        script = bundle([(pathlib.Path(p).name, read(p)) for p in call.module])
    except ValueError as fault:
        return "bundle.py: %s" % fault
    script = squeeze_script(script)
    if "</script" in script:
        return "bundle.py: a module holds the end of a script"
    bare = page(read(call.html), squeeze_css(read(call.css)), script, "")
    if len(bare.encode()) > MOST_BYTES:
        return "bundle.py: the page has %d bytes, more than %d" % (len(bare.encode()), MOST_BYTES)
    if call.worker:
        worker = read(call.worker).replace("</script", "<\\/script")
        bare = page(read(call.html), squeeze_css(read(call.css)), script, worker)
    pathlib.Path(call.output).write_text(bare, encoding="utf-8")
    if call.header:  # compilers do not see that page.c depends on the page: its hash shows it
        digest = hashlib.sha256(bare.encode()).hexdigest()
        pathlib.Path(call.header).write_text("/* The page of %d bytes: %s */\n" % (len(bare.encode()), digest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
