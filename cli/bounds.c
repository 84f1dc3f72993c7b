/* bounds.c: prints the generalisation bounds of a model, for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bounds.h"

#include "text.h"

void cli_bounds_say(const mcr_bounds *b)
{
    cli_say("margin", "%.6g (1 / |w|), radius^2 %.6g, radius^2 / margin^2 %.6g", b->margin,
            b->radius2, b->ratio);
    for (int i = 0; i < b->count; i++) {
        const mcr_bound_of_error *e = &b->item[i];
        cli_say(i ? "" : "bounds", "%s: %.6g%s%s", e->name, e->value,
                e->value >= 1 ? " (vacuous)" : "",
                e->holds ? "" : " (not a guarantee: its assumption does not hold)");
        cli_say("", "  %s", e->formula);
        cli_say("", "  %s", e->assumption);
    }
    cli_say("",
            "delta %g; each holds for settings that were chosen before these data were seen: if m "
            "settings were tried, use delta / m",
            b->delta);
}

void cli_bounds_json(cli_json *j, const mcr_bounds *b)
{
    cli_json_object(j, "bounds");
    cli_json_real(j, "margin", b->margin);
    cli_json_real(j, "radius2", b->radius2);
    cli_json_real(j, "ratio", b->ratio);
    cli_json_real(j, "delta", b->delta);
    cli_json_list(j, "list");
    for (int i = 0; i < b->count; i++) {
        cli_json_object(j, NULL);
        cli_json_text(j, "name", b->item[i].name);
        cli_json_real(j, "value", b->item[i].value);
        cli_json_flag(j, "holds", b->item[i].holds);
        cli_json_text(j, "formula", b->item[i].formula);
        cli_json_text(j, "assumption", b->item[i].assumption);
        cli_json_end(j);
    }
    cli_json_end(j);
    cli_json_end(j);
}
