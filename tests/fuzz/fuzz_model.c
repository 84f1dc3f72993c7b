/* fuzz_model.c: model files of Mercer and of LIBSVM. What loads can be looked at, predicts or says
 * why not, and is saved in a form that loads as the same model.
 *
 * Hardly any altered container has the right lengths and checksums. So each input is tried as it is
 * and once more with its sections framed again: then faults behind the checksums are found too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz_framing.h"

#include "model/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_file(const uint8_t *bytes, size_t count)
{
    mcr *ctx = fuzz_open();
    mcr_model *model = fuzz_load(ctx, bytes, count);
    if (model) {
        fuzz_look(model);
        fuzz_tables(ctx, model);
        fuzz_saved(ctx, model);
        size_t length;
        uint8_t *text = fuzz_save(ctx, model, mcr_model_save_libsvm, &length);
        mcr_model *other = text ? fuzz_load(ctx, text, length) : NULL;
        /* What came from LIBSVM goes back to it. */
        if (text && !other && mcr_libsvm_recognise(bytes, count))
            abort();
        mcr_model_free(other);
        free(text);
    }
    mcr_model_free(model);
    mcr_close(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    check_file(bytes, count);
    if (count >= HEADER && memcmp(bytes, mcr_model_magic, MCR_MODEL_MAGIC_BYTES) == 0)
        check_framed(check_file, bytes, count);
    return 0;
}
