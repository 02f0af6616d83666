/* What the kernel says of its sockets, written by hand. */
#include "script.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "load/sockdiag.h"

struct message {
	struct nlmsghdr h;
	struct inet_diag_msg m;
	struct rtattr a;
	struct tcp_info ti;
} __attribute__((packed, aligned(4)));

static struct message row(uint16_t local, uint16_t remote)
{
	return (struct message){
		.h = {.nlmsg_len = sizeof(struct message), .nlmsg_type = SOCK_DIAG_BY_FAMILY},
		.m = {.idiag_state = 1,
			.id = {.idiag_sport = htons(local), .idiag_dport = htons(remote)},
			.idiag_rqueue = 12,
			.idiag_wqueue = 34,
			.idiag_timer = 4},
		.a = {.rta_len = RTA_LENGTH(sizeof(struct tcp_info)), .rta_type = INET_DIAG_INFO},
		.ti = {.tcpi_rtt = 56, .tcpi_retransmits = 7, .tcpi_total_retrans = 8},
	};
}

static void test_rows(void **state)
{
	struct message v[4] = {row(80, 1000), row(81, 1001), row(1002, 80), row(1, 2)};
	auto_sockdiag struct sockdiag s = {0};
	auto_buf struct buf b = BUF_INIT;

	assert_true(sockdiag_take(&s, v, 3 * sizeof(v[0]), 80));
	assert_int_equal(s.n, 2);
	assert_non_null(sockdiag_find(&s, 1002, 80));
	sockdiag_describe(&b, sockdiag_find(&s, 80, 1000));
	assert_string_equal(b.p,
		"established, unread 12 bytes, unsent or unacknowledged 34 bytes, the other end's "
		"window is closed, rtt 56 us, retransmits 7 (total 8), data last came in 0.000 s "
		"ago and went out 0.000 s ago");
	v[3].h.nlmsg_type = NLMSG_DONE;
	assert_false(sockdiag_take(&s, v + 3, sizeof(v[0]), 80));
	assert_false(s.refused);
	v[3].h.nlmsg_type = NLMSG_ERROR;
	assert_false(sockdiag_take(&s, v + 3, sizeof(v[0]), 80));
	assert_true(s.refused);
	assert_int_equal(s.n, 2);
}

/* Lengths that lie: nothing behind the answer's end is read, and no row is made of half of one. */
static void test_lengths(void **state)
{
	static const struct {
		uint32_t message;
		uint16_t attribute;
		size_t n, rows;
	} t[] = {
		{sizeof(struct message), RTA_LENGTH(sizeof(struct tcp_info)),
			sizeof(struct message) - 1, 0},
		{UINT32_MAX, 0, sizeof(struct message), 0},
		{0, 0, sizeof(struct message), 0},
		{15, 0, sizeof(struct message), 0},
		{offsetof(struct message, m), 0, sizeof(struct message), 0},
		{offsetof(struct message, a) - 1, 0, sizeof(struct message), 0},
		{offsetof(struct message, a), 0, offsetof(struct message, a), 1},
		/* Not padded, and nothing follows: its padding lies outside. */
		{offsetof(struct message, a) + 1, 0, offsetof(struct message, a) + 1, 1},
		{offsetof(struct message, a) + 6, 4, offsetof(struct message, a) + 6, 1},
		{sizeof(struct message), UINT16_MAX, sizeof(struct message), 1},
		{sizeof(struct message), 0, sizeof(struct message), 1},
		{sizeof(struct message), 5, sizeof(struct message), 1},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct message m = row(80, 1000), *copy = malloc(t[i].n);
		auto_sockdiag struct sockdiag s = {0};

		m.h.nlmsg_len = t[i].message;
		m.a.rta_len = t[i].attribute;
		memcpy(copy, &m, t[i].n);
		assert_true(sockdiag_take(&s, copy, t[i].n, 80));
		if (s.n != t[i].rows)
			fail_msg("%zu: %zu rows", i, s.n);
		free(copy);
	}
}

const struct CMUnitTest sockdiag_tests[] = {
	cmocka_unit_test(test_rows),
	cmocka_unit_test(test_lengths),
};
const size_t n_sockdiag_tests = sizeof(sockdiag_tests) / sizeof(sockdiag_tests[0]);
