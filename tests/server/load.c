/*
 * Requests at a fixed pace: over so many connections, one after the other on each, from one thread.
 *
 *     load PORT CONNECTIONS RATE SECONDS [FROM] <paths
 *
 * Request i is due at i / RATE seconds and goes out on the first connection that is free; its time
 * is from when it was due to the last byte of its answer, so that a server that stands still is
 * charged with all requests that it kept waiting (no coordinated omission). SIGTERM ends it early.
 * A path is a line of standard input; they are asked for in turns. FROM is an address to come from.
 *
 * To standard output: a line of JSON with "sent", "errors", "failure" (the first one), and "p50",
 * "p90", "p99", "max" in milliseconds; then each distinct answer, as a line {"path", "status",
 * "count", "bytes", "seen"} with its body behind it. "seen" has for each connection when the answer
 * was first and last asked for ([] where it never came), in seconds from the start.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ANSWER = 1 << 20, MOST_PATHS = 1 << 16, MOST_DISTINCT = 1 << 16 };

typedef struct connection {
    int fd; /* -1: to be connected */
    bool busy;
    size_t path;
    double due, asked;
    char *bytes; /* n of MOST_ANSWER */
    size_t n;
} connection;

typedef struct answer {
    size_t path, n;
    uint64_t hash, count;
    int status;
    char *body;           /* n */
    double *first, *last; /* by connection; first < 0: never */
} answer;

static struct {
    struct sockaddr_in to, from;
    char *requests[MOST_PATHS]; /* n_paths, whole ones */
    size_t n_paths;
    connection *connections; /* n */
    int n, poll;
    double rate, start;
    answer distinct[MOST_DISTINCT]; /* by hash; count 0: free */
    float *milliseconds;            /* n_done of capacity */
    size_t n_done, capacity;
    uint64_t sent, errors;
    char failure[200];
} load;

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *must(void *memory)
{
    if (!memory) die("memory");
    return memory;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what came ------------------------------------------------------------------------------- */

static void note_error(const char *what, const connection *c)
{
    if (load.errors++) return;
    snprintf(load.failure, sizeof load.failure, "%s: %.100s", what, c->n ? c->bytes : "");
    for (char *p = load.failure; *p; p++)
        if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\') *p = ' ';
}

static void note_time(double seconds)
{
    if (load.n_done == load.capacity) {
        load.capacity = load.capacity ? load.capacity * 2 : 1 << 16;
        load.milliseconds = must(realloc(load.milliseconds, load.capacity * sizeof(float)));
    }
    load.milliseconds[load.n_done++] = (float)(seconds * 1e3);
}

static answer *find(size_t path, int status, const char *body, size_t n)
{
    uint64_t h = 14695981039346656037u ^ path;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)body[i]) * 1099511628211u;
    for (size_t at = h % MOST_DISTINCT, steps = 0; steps < MOST_DISTINCT; steps++) {
        answer *a = &load.distinct[at];
        if (a->count && a->hash == h && a->path == path && a->status == status && a->n == n)
            return a;
        at = (at + 1) % MOST_DISTINCT;
        if (a->count) continue;
        *a = (answer){.path = path, .n = n, .hash = h, .status = status};
        a->body = memcpy(must(malloc(n + 1)), body, n);
        a->first = must(malloc((size_t)load.n * sizeof(double)));
        a->last = must(malloc((size_t)load.n * sizeof(double)));
        for (int i = 0; i < load.n; i++)
            a->first[i] = -1;
        return a;
    }
    fprintf(stderr, "too many distinct answers\n");
    exit(1);
}

static void note_answer(connection *c, int status, const char *body, size_t n)
{
    answer *a = find(c->path, status, body, n);
    size_t i = (size_t)(c - load.connections);
    a->count++;
    if (a->first[i] < 0) a->first[i] = c->asked - load.start;
    a->last[i] = c->asked - load.start;
    note_time(now() - c->due);
}

/* ---- a connection ---------------------------------------------------------------------------- */

static void hang_up(connection *c)
{
    close(c->fd);
    c->fd = -1;
    c->busy = false;
}

static bool call(connection *c)
{
    int on = 1;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) die("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bool good = bind(c->fd, (struct sockaddr *)&load.from, sizeof load.from) == 0 &&
                connect(c->fd, (struct sockaddr *)&load.to, sizeof load.to) == 0;
    if (good && epoll_ctl(load.poll, EPOLL_CTL_ADD, c->fd, &e) == 0) return true;
    hang_up(c);
    return false;
}

static void ask(connection *c, double due)
{
    c->path = load.sent++ % load.n_paths;
    c->due = due;
    c->n = 0;
    const char *request = load.requests[c->path];
    ssize_t length = (ssize_t)strlen(request);
    if (c->fd < 0 && !call(c)) {
        note_error("cannot connect", c);
        return;
    }
    c->busy = true;
    c->asked = now();
    if (send(c->fd, request, (size_t)length, MSG_NOSIGNAL) == length) return;
    note_error("cannot send", c);
    hang_up(c);
}

/* Walk the chunks from `at` on, and where `to` is given join them there; NULL: they are not whole. */
static const char *walk_chunks(const connection *c, const char *at, char *to)
{
    const char *end = c->bytes + c->n;
    for (;;) {
        char *line;
        size_t n = strtoull(at, &line, 16);
        if (line == at || end - line < 4 || memcmp(line, "\r\n", 2) != 0) return NULL;
        if (n == 0) return to ? to : line + 4;
        if ((size_t)(end - line) < n + 4) return NULL;
        if (to) to = (char *)memmove(to, line + 2, n) + n;
        at = line + 2 + n + 2;
    }
}

/* A header's value within the head that ends at `end`; NULL. */
static const char *header(const connection *c, const char *name, const char *end)
{
    const char *found = strstr(c->bytes, name);
    return found && found < end ? found + strlen(name) : NULL;
}

/* Whether the answer is there. Slow ones come in chunks, which are joined. */
static bool is_whole(connection *c, int *status, const char **body, size_t *n)
{
    const char *end = strstr(c->bytes, "\r\n\r\n");
    if (!end || sscanf(c->bytes, "HTTP/1.1 %d", status) != 1) return false;
    const char *length = header(c, "\r\nContent-Length: ", end);
    *body = end + 4;
    if (length) {
        *n = strtoull(length, NULL, 10);
        return (size_t)(c->bytes + c->n - *body) >= *n;
    }
    if (!header(c, "\r\nTransfer-Encoding: chunked", end) || !walk_chunks(c, *body, NULL))
        return false;
    *n = (size_t)(walk_chunks(c, *body, c->bytes + (*body - c->bytes)) - *body);
    return true;
}

static void take(connection *c)
{
    int status;
    const char *body;
    size_t n;
    ssize_t got = recv(c->fd, c->bytes + c->n, MOST_ANSWER - 1 - c->n, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 || !c->busy) {
        if (c->busy) note_error("the connection ended", c);
        hang_up(c);
        return;
    }
    c->n += (size_t)got;
    c->bytes[c->n] = '\0';
    if (!is_whole(c, &status, &body, &n)) return;
    c->busy = false;
    if (status != 200) note_error("a problem", c);
    note_answer(c, status, body, n);
}

/* ---- the pace -------------------------------------------------------------------------------- */

static connection *find_free(void)
{
    static int last;
    for (int i = 0; i < load.n; i++) {
        last = (last + 1) % load.n;
        if (!load.connections[last].busy) return &load.connections[last];
    }
    return NULL;
}

static double due_of(uint64_t request)
{
    return load.start + (double)request / load.rate;
}

static void send_due(double until)
{
    connection *c;
    while (due_of(load.sent) <= until && (c = find_free()))
        ask(c, due_of(load.sent));
}

static void set_timer(int timer)
{
    double due = due_of(load.sent);
    struct itimerspec t = {.it_value = {(time_t)due, (long)((due - (double)(time_t)due) * 1e9)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static bool any_busy(void)
{
    for (int i = 0; i < load.n; i++)
        if (load.connections[i].busy) return true;
    return false;
}

/* Until all is answered that was asked in time; what is not after 60 seconds is an error. */
static void run(double seconds)
{
    struct epoll_event events[64];
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    uint64_t expired;
    if (timer < 0 || epoll_ctl(load.poll, EPOLL_CTL_ADD, timer, &e) != 0) die("timer");
    for (double end = load.start + seconds; now() < end + 60;) {
        if (stop && end > now()) end = now();
        bool over = now() >= end;
        if (over && !any_busy()) break;
        if (!over) {
            send_due(now());
            set_timer(timer);
        }
        int n = epoll_wait(load.poll, events, 64, 100);
        for (int i = 0; i < n; i++)
            if (events[i].data.ptr)
                take(events[i].data.ptr);
            else if (read(timer, &expired, sizeof expired) < 0 && errno != EAGAIN)
                die("timer");
    }
    for (int i = 0; i < load.n; i++)
        if (load.connections[i].busy) note_error("no answer", &load.connections[i]);
    close(timer);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void read_paths(int port)
{
    char line[4096], request[4400];
    while (load.n_paths < MOST_PATHS && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", line,
                 port);
        load.requests[load.n_paths++] = must(strdup(request));
    }
    if (load.n_paths == 0) exit(2);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(double q)
{
    size_t at = (size_t)(q * (double)load.n_done);
    return load.n_done ? (double)load.milliseconds[at < load.n_done ? at : load.n_done - 1] : -1;
}

static void tell_answer(const answer *a)
{
    printf("{\"path\":%zu,\"status\":%d,\"count\":%llu,\"bytes\":%zu,\"seen\":[", a->path,
           a->status, (unsigned long long)a->count, a->n);
    for (int i = 0; i < load.n; i++)
        if (a->first[i] < 0)
            printf("%s[]", i ? "," : "");
        else
            printf("%s[%.6f,%.6f]", i ? "," : "", a->first[i], a->last[i]);
    printf("]}\n");
    fwrite(a->body, 1, a->n, stdout);
}

static void tell(void)
{
    qsort(load.milliseconds, load.n_done, sizeof(float), by_size);
    printf("{\"sent\":%llu,\"errors\":%llu,\"failure\":\"%s\",\"p50\":%.3f,\"p90\":%.3f,"
           "\"p99\":%.3f,\"max\":%.3f}\n",
           (unsigned long long)load.sent, (unsigned long long)load.errors, load.failure,
           quantile(0.5), quantile(0.9), quantile(0.99), quantile(1));
    for (size_t i = 0; i < MOST_DISTINCT; i++)
        if (load.distinct[i].count) tell_answer(&load.distinct[i]);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    int port = atoi(argv[1]);
    double seconds = atof(argv[4]);
    load.n = atoi(argv[2]);
    load.rate = atof(argv[3]);
    if (port <= 0 || load.n <= 0 || load.rate <= 0 || seconds <= 0) return 2;
    load.to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    load.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    load.from.sin_family = AF_INET;
    if (argc > 5 && inet_pton(AF_INET, argv[5], &load.from.sin_addr) != 1) return 2;
    signal(SIGTERM, on_signal);
    read_paths(port);
    load.poll = epoll_create1(EPOLL_CLOEXEC);
    load.connections = must(calloc((size_t)load.n, sizeof *load.connections));
    for (int i = 0; i < load.n; i++) {
        load.connections[i].fd = -1;
        load.connections[i].bytes = must(malloc(MOST_ANSWER));
        if (!call(&load.connections[i])) die("connect");
    }
    load.start = now();
    run(seconds);
    tell();
    return 0;
}
