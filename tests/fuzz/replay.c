/* replay.c: a main for the fuzz targets that runs them once on each file of the folders it is
 * given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    /* Exactly as long as the input, so that a step beyond its end is seen. */
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    int bad = size < 0 || !bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size;
    fclose(file);
    if (bad)
        fprintf(stderr, "%s: cannot be read\n", path);
    else
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    return bad;
}

static int replay_folder(const char *folder, int *files)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        return 1;
    }
    int bad = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bad |= replay_file(path);
        ++*files;
    }
    closedir(dir);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0, files = 0;
    for (int i = 1; i < argc; ++i)
        bad |= replay_folder(argv[i], &files);
    printf("%d inputs\n", files);
    return bad || files == 0;
}
