/* fuzz_tu.c: the reader of TU graph sets. The input holds the files of a set with '=' between them:
 * edges, indicator, graph labels, graph attributes, node labels, edge labels; an empty one of the
 * last four is absent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_reader.h"

#include "data/format/tu.h"

enum { PARTS = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static mcr_status read_parts(mcr_data **out, mcr *ctx, mcr_input *const in[PARTS])
{
    mcr_tu_parts parts = {.edges = in[0],
                          .indicator = in[1],
                          .graph_labels = in[2],
                          .graph_targets = in[3],
                          .node_labels = in[4],
                          .edge_labels = in[5]};
    mcr_builder *builder;
    mcr_status status = mcr_builder_open(&builder, ctx, -1);
    if (status != MCR_OK)
        return status;
    status = mcr_tu_read(builder, ctx, &parts);
    if (status == MCR_OK)
        return mcr_builder_finish(out, builder);
    mcr_builder_close(builder);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const name[PARTS] = {"DS_A.txt",
                                            "DS_graph_indicator.txt",
                                            "DS_graph_labels.txt",
                                            "DS_graph_attributes.txt",
                                            "DS_node_labels.txt",
                                            "DS_edge_labels.txt"};
    mcr *ctx = fuzz_open();
    mcr_input *in[PARTS] = {NULL};
    mcr_data *data = NULL;
    const uint8_t *end = bytes + count;
    mcr_status status = MCR_OK;
    for (int i = 0; i < PARTS && status == MCR_OK; i++) {
        const uint8_t *stop = bytes < end ? memchr(bytes, '=', (size_t)(end - bytes)) : NULL;
        if (!stop)
            stop = end;
        if (stop > bytes || i < 2)
            status = mcr_input_memory(&in[i], ctx, name[i], bytes, (size_t)(stop - bytes));
        bytes = stop < end ? stop + 1 : end;
    }
    if (status == MCR_OK)
        status = read_parts(&data, ctx, in);
    fuzz_check(ctx, status, data);
    if (data)
        fuzz_round_trip(ctx, data, &mcr_format_jsonl);
    mcr_data_free(data);
    for (int i = 0; i < PARTS; i++)
        mcr_input_close(in[i]);
    mcr_close(ctx);
    return 0;
}
