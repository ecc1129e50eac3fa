// Loaded in front of the C libraries (LD_PRELOAD), answers as some file systems and full tables do when a file under
// construction is locked. FAULT names the failure.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>

static int is(const char *failure) {
  const char *value = getenv("FAULT");
  return value && strcmp(value, failure) == 0;
}

// No lease, whichever process has the file open: "nfs" on a file system whose server gives leases, "leases" on a local one.
#define CONTROL(name)                                                   \
  int name(int file, int command, ...) {                                \
    static int (*real)(int, int, ...);                                  \
    if (!real) real = dlsym(RTLD_NEXT, #name);                          \
    va_list arguments;                                                  \
    va_start(arguments, command);                                       \
    void *value = va_arg(arguments, void *);                            \
    va_end(arguments);                                                  \
    if (command == F_SETLEASE && (long)value == F_RDLCK && (is("nfs") || is("leases"))) { \
      errno = EAGAIN;                                                   \
      return -1;                                                        \
    }                                                                   \
    return real(file, command, value);                                  \
  }
CONTROL(fcntl)
CONTROL(fcntl64)

#define SYSTEM(name, type)                           \
  int name(int file, struct type *status) {          \
    static int (*real)(int, struct type *);          \
    if (!real) real = dlsym(RTLD_NEXT, #name);       \
    int result = real(file, status);                 \
    if (is("nfs")) status->f_type = 0x6969;          \
    return result;                                   \
  }
SYSTEM(fstatfs, statfs)
SYSTEM(fstatfs64, statfs64)

// The second descriptor of a file under construction is one too many.
#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    static int (*real)(const char *, int, ...);                           \
    if (!real) real = dlsym(RTLD_NEXT, #name);                            \
    va_list arguments;                                                    \
    va_start(arguments, flags);                                           \
    mode_t mode = va_arg(arguments, mode_t);                              \
    va_end(arguments);                                                    \
    if (is("open") && strstr(path, ".partial") && (flags & O_ACCMODE) == O_RDONLY) { \
      errno = EMFILE;                                                     \
      return -1;                                                          \
    }                                                                     \
    return real(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)

int flock(int file, int operation) {
  static int (*real)(int, int);
  if (!real) real = dlsym(RTLD_NEXT, "flock");
  if (is("flock")) {
    errno = ENOLCK;
    return -1;
  }
  return real(file, operation);
}
