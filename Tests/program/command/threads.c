// Loaded in front of the C libraries (LD_PRELOAD), gives no thread for the WITHOUTth asked for, counted from 0.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int asked;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) real = dlsym(RTLD_NEXT, "pthread_create");
  const char *without = getenv("WITHOUT");
  if (without && atomic_fetch_add(&asked, 1) == atoi(without)) return EAGAIN;
  return real(thread, attributes, work, argument);
}
