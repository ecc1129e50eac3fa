// Which kind of file system a folder is on: glibc's module for Swift lacks both headers.
#include <linux/magic.h>
#include <sys/vfs.h>
