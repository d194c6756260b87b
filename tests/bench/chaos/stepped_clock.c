/* The wall clock of a stack's Python processes, which a bench steps while they run: preloaded, it adds to it the seconds
   that the file CHAOS_CLOCKS holds, as one double for the web's side and one for the cluster's. Monotonic clocks stay as
   they are, as they do where an administrator or NTP steps a machine's clock.

   Only what the interpreter itself reads is stepped. C++ libraries, Ray's before all, wait on the kernel's clock for
   moments that they compute from this one, which no preloaded library can follow. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile double *offset;

/* The web's side is what Django runs in; every other Python process of a stack is Ray's, a driver or a lane. */
static int is_of_the_web(void) {
    char command[4096];
    int file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, command, sizeof command - 1);
    if (file >= 0) close(file);
    for (ssize_t index = 0; index < length; index++)
        if (command[index] == '\0') command[index] = ' ';
    command[length > 0 ? length : 0] = '\0';
    return strstr(command, " server.") != NULL || strstr(command, "manage.py") != NULL;
}

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("CHAOS_CLOCKS");
    int file = path == NULL ? -1 : open(path, O_RDONLY);
    if (file < 0) return;
    const double *offsets = mmap(NULL, 2 * sizeof(double), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (offsets != MAP_FAILED) offset = offsets + (is_of_the_web() ? 0 : 1);
}

/* Seconds to add for a call that returns to `caller`. */
static time_t step_for(const void *caller) {
    Dl_info found;
    if (offset == NULL || *offset == 0.0 || dladdr(caller, &found) == 0 || found.dli_fname == NULL) return 0;
    const char *slash = strrchr(found.dli_fname, '/');
    const char *name = slash == NULL ? found.dli_fname : slash + 1;
    int is_interpreter = strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0;
    return is_interpreter ? (time_t)*offset : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += step_for(__builtin_return_address(0));
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    static int (*real)(struct timeval *, void *);
    if (real == NULL) real = dlsym(RTLD_NEXT, "gettimeofday");
    int status = real(now, zone);
    if (status == 0) now->tv_sec += step_for(__builtin_return_address(0));
    return status;
}

time_t time(time_t *now) {
    struct timespec read;
    clock_gettime(CLOCK_REALTIME, &read);
    read.tv_sec += step_for(__builtin_return_address(0));
    if (now != NULL) *now = read.tv_sec;
    return read.tv_sec;
}
