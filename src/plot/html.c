/* html.c: a figure as a self-contained page: the drawing, the coordinates under the pointer, and
 * for an animation a slider. Nothing is loaded from elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/json.h"
#include "plot/canvas.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>";

static const char style[] =
    "</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{margin:0;font-family:system-ui,sans-serif;background:#fff;color:#1d2126}\n"
    "main{max-width:1100px;margin:0 auto;padding:1rem}\n"
    "svg{width:100%;height:auto;display:block}\n"
    "#at{font-size:.85rem;min-height:1.3em;color:#5a626c;font-variant-numeric:tabular-nums}\n"
    ".bar{display:flex;gap:.8rem;align-items:center;margin:.5rem 0}\n"
    ".bar input{flex:1}\n.bar output{min-width:9em;font-weight:600}\n"
    "button{font:inherit;padding:.25rem .8rem}\n";

static const char dark[] = "body{background:#14171b;color:#e9ecf0}#at{color:#a3acb8}\n";

static const char script[] =
    "const svg=document.querySelector('svg'),at=document.getElementById('at');\n"
    "const say=v=>Math.abs(v)>=1e6||(v!==0&&Math.abs(v)<1e-4)?v.toExponential(3):"
    "String(+v.toPrecision(5));\n"
    "const value=(a,t)=>a.log?a.min*Math.pow(a.max/a.min,t):a.min+(a.max-a.min)*t;\n"
    "const text=(a,t)=>{const v=value(a,t);return a.names?(a.names[Math.round(v)]||''):say(v)};\n"
    "svg.addEventListener('pointermove',e=>{const r=svg.getBoundingClientRect();\n"
    " const x=(e.clientX-r.left)*fig.width/r.width,y=(e.clientY-r.top)*fig.height/r.height;\n"
    " const p=fig.panels.find(p=>x>=p.box[0]&&x<=p.box[0]+p.box[2]&&y>=p.box[1]&&"
    "y<=p.box[1]+p.box[3]);\n"
    " at.textContent=p?`${p.x.label||'x'} ${text(p.x,(x-p.box[0])/p.box[2])}   "
    "${p.y.label||'y'} ${text(p.y,1-(y-p.box[1])/p.box[3])}`:'';});\n"
    "svg.addEventListener('pointerleave',()=>{at.textContent=''});\n"
    "const "
    "frames=[...document.querySelectorAll('.frame')],slide=document.getElementById('slide');\n"
    "if(slide){const out=document.getElementById('now'),play=document.getElementById('play');\n"
    " let timer=0;const show=()=>{const k=+slide.value;frames.forEach((f,i)=>"
    "f.setAttribute('visibility',i===k?'visible':'hidden'));out.textContent=fig.labels[k]};\n"
    " slide.addEventListener('input',show);play.addEventListener('click',()=>{if(timer){"
    "clearInterval(timer);timer=0;play.textContent='Play'}else{play.textContent='Stop';"
    "timer=setInterval(()=>{slide.value=(+slide.value+1)%frames.length;show()},280)}});show();}\n";

/* The positions of the panels and their axes, for the script. */
static void put_data(mcr_json_writer *w, const mcr_figure *f, const mcr_layout_of *l)
{
    mcr_json_write_object(w);
    mcr_json_put_real(w, "width", l->width);
    mcr_json_put_real(w, "height", l->height);
    mcr_json_put_array(w, "labels");
    for (int64_t k = 0; k < f->frames; k++)
        mcr_json_write_text(w, f->frame[k].label);
    mcr_json_write_end_array(w);
    mcr_json_put_array(w, "panels");
    for (int64_t p = 0; p < l->panels; p++) {
        const mcr_box *b = &l->place[p].box;
        const double box[] = {b->x, b->y, b->w, b->h};
        mcr_json_write_object(w);
        mcr_json_put_array(w, "box");
        for (int i = 0; i < 4; i++)
            mcr_json_write_real(w, round(box[i] * 100) / 100);
        mcr_json_write_end_array(w);
        mcr_axis_to_json(w, "x", &f->frame[0].panel[p].x, true);
        mcr_axis_to_json(w, "y", &f->frame[0].panel[p].y, true);
        mcr_json_write_end_object(w);
    }
    mcr_json_write_end_array(w);
    mcr_json_write_end_object(w);
}

/* "<" could end the script element: it is escaped. */
static void put_script(mcr_text *to, const mcr_text *json)
{
    for (int64_t i = 0; i < json->length; i++) {
        if (json->bytes[i] == '<')
            mcr_text_string(to, "\\u003c");
        else
            mcr_text_add(to, json->bytes + i, 1);
    }
}

static void put_slider(mcr_text *to, const mcr_figure *f)
{
    mcr_text_string(to, "<div class=\"bar\"><button id=\"play\" type=\"button\">Play</button>"
                        "<input id=\"slide\" type=\"range\" min=\"0\" step=\"1\" aria-label=\"");
    mcr_xml_write(to, f->moves ? f->moves : "frame");
    mcr_text_format(to, "\" max=\"%lld\" value=\"%lld\"><output id=\"now\"></output></div>\n",
                    (long long)f->frames - 1, (long long)f->frames / 2);
}

mcr_status mcr_figure_to_html(mcr_figure *f, const mcr_draw *draw)
{
    mcr_text *to = &f->drawn;
    mcr_text json;
    mcr_layout_of l;
    mcr_json_writer w;
    mcr_text_init(&json, f->ctx);
    mcr_json_write_init(&w, &json);
    mcr_text_string(to, head);
    mcr_xml_write(to, f->title ? f->title : f->kind);
    mcr_text_string(to, style);
    if (draw->theme == MCR_THEME_AUTO)
        mcr_text_string(to, "@media (prefers-color-scheme:dark){");
    if (draw->theme != MCR_THEME_LIGHT)
        mcr_text_string(to, dark);
    if (draw->theme == MCR_THEME_AUTO)
        mcr_text_string(to, "}\n");
    mcr_text_string(to, "</style></head><body><main>\n");
    mcr_status s = mcr_svg_write(f, draw, false, "c");
    if (!s)
        s = mcr_layout_open(&l, f, draw);
    if (!s) {
        mcr_text_string(to, "<div id=\"at\" aria-live=\"off\"></div>\n");
        if (f->frames > 1)
            put_slider(to, f);
        put_data(&w, f, &l);
        mcr_layout_close(&l);
        mcr_text_string(to, "<script>\nconst fig=");
        put_script(to, &json);
        mcr_text_string(to, ";\n");
        mcr_text_string(to, script);
        mcr_text_string(to, "</script>\n</main></body></html>\n");
        s = json.status ? json.status : to->status;
    }
    mcr_text_free(&json);
    return s;
}
