// Loaded in front of the C libraries (LD_PRELOAD), counts the pictures that are handed to decoders which hardly any
// picture needs, and hands them on. The count stands in the file that CALLS names, which is mapped, so that processes
// that may open no file count, too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t *calls;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CALLS");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof *calls) != 0) abort();
  calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (calls == MAP_FAILED) abort();
  close(file);
}

// None takes more than six arguments, all of them numbers or addresses.
#define WATCH(name)                                                                          \
  void *name(void *a, void *b, void *c, void *d, void *e, void *f) {                         \
    void *(*real)(void *, void *, void *, void *, void *, void *) = dlsym(RTLD_NEXT, #name); \
    __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);                                          \
    return real(a, b, c, d, e, f);                                                           \
  }

WATCH(rsvg_handle_new_from_stream_sync)
WATCH(rsvg_handle_new_from_gfile_sync)
WATCH(poppler_document_new_from_stream)
WATCH(BlobToImage)
WATCH(ReadImage)
WATCH(GetImageMagick)
WATCH(openslide_open)
WATCH(openslide_detect_vendor)
WATCH(opj_create_decompress)
WATCH(JxlDecoderCreate)
WATCH(ImfOpenInputFile)
WATCH(Mat_Open)
