"""Access control lists and quotas as such: whatever is in them, some things always hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.wire.codes import Refusal
from headrace.wire.security.acls import EVERYBODY, WILDCARD, Acl, AclFilter, Acls, check
from headrace.wire.security.quota_book import DEFAULT, PRODUCE, QuotaBook, QuotaKey
from headrace.wire.security.resources import (
    IMPLIED_BY,
    OPERATIONS,
    Operation,
    PatternType,
    Permission,
    Resource,
    ResourceKind,
)
from headrace.wire.security.throttle import BURST_MS, THROTTLE_MS_MAX, Throttle

NAMES = ("a", "ab", "b", WILDCARD)
USERS = ("User:x", "User:y")
HOSTS = ("h1", "h2")

acls = st.builds(
    Acl,
    st.just(ResourceKind.TOPIC),
    st.sampled_from(NAMES),
    st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
    st.sampled_from((*USERS, EVERYBODY)),
    st.sampled_from((*HOSTS, WILDCARD)),
    st.sampled_from((Operation.ALL, *OPERATIONS[ResourceKind.TOPIC])),
    st.sampled_from((Permission.ALLOW, Permission.DENY)),
)
questions = st.tuples(
    st.sampled_from(USERS),
    st.sampled_from(HOSTS),
    st.sampled_from(OPERATIONS[ResourceKind.TOPIC]),
    st.builds(Resource, st.just(ResourceKind.TOPIC), st.sampled_from(("a", "ab", "b", "c"))),
)
Question = tuple[str, str, Operation, Resource]


@given(st.lists(acls, max_size=6), questions)
def test_what_nobody_allows_is_denied_and_a_denial_wins(rules: list[Acl], question: Question) -> None:
    user, host, operation, resource = question
    allowed = Acls(rules).allow(*question)
    if not any(rule.permission is Permission.ALLOW for rule in rules):
        assert not allowed
    for rule in rules:
        concerned = rule.concerns(user, host) and rule.covers(resource)
        if concerned and rule.permission is Permission.DENY and rule.operation in (operation, Operation.ALL):
            assert not allowed


@given(st.lists(acls, max_size=6), acls, questions)
def test_a_rule_changes_only_what_it_is_about(rules: list[Acl], more: Acl, question: Question) -> None:
    user, host, operation, resource = question
    before, after = Acls(rules).allow(*question), Acls([*rules, more]).allow(*question)
    if before == after:
        return
    assert more.concerns(user, host)
    assert more.covers(resource)
    assert more.operation in (operation, Operation.ALL, *IMPLIED_BY.get(operation, ()))
    assert after is (more.permission is Permission.ALLOW)


@given(st.lists(acls, max_size=6), questions)
def test_somewhere_means_there_is_a_resource(rules: list[Acl], question: Question) -> None:
    user, host, operation, resource = question
    if operation is Operation.WRITE and Acls(rules).allow(user, host, operation, resource):
        assert Acls(rules).allow_any(user, host, operation, ResourceKind.TOPIC)


@given(st.lists(acls, max_size=6))
def test_the_widest_filter_means_every_rule(rules: list[Acl]) -> None:
    anything = AclFilter(ResourceKind.ANY, None, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)
    assert set(Acls(rules).meant(anything)) == set(rules)


@pytest.mark.parametrize(
    ("kind", "name", "principal", "operation"),
    [
        (ResourceKind.TOPIC, "t", "Group:x", Operation.READ),
        (ResourceKind.TOPIC, "", "User:x", Operation.READ),
        (ResourceKind.CLUSTER, "another", "User:x", Operation.CREATE),
        (ResourceKind.GROUP, "g", "User:x", Operation.WRITE),
    ],
)
def test_rules_that_mean_nothing_are_refused(
    kind: ResourceKind, name: str, principal: str, operation: Operation
) -> None:
    with pytest.raises(Refusal):
        check(Acl(kind, name, PatternType.LITERAL, principal, "*", operation, Permission.ALLOW))


@given(st.integers(100, 100_000), st.lists(st.integers(0, 50_000), min_size=1, max_size=60))
def test_nobody_gets_more_than_a_rate_and_one_burst(rate: int, sizes: list[int]) -> None:
    now_ms = 0
    book = QuotaBook({QuotaKey("x", None): {PRODUCE: float(rate)}})
    throttle = Throttle(lambda: book, lambda: now_ms)
    taken = 0
    for size in sizes:
        # Served once its wait is over, a client may take one request too many, but no more.
        assert taken <= rate * (now_ms + BURST_MS) / 1000 + rate / 1000 + 1
        taken += size
        wait_ms = throttle.charge(PRODUCE, "x", "any", size)
        assert 0 <= wait_ms <= THROTTLE_MS_MAX
        now_ms += wait_ms
        while (more_ms := throttle.charge(PRODUCE, "x", "any", 0)) > 0:
            now_ms += more_ms


def test_the_most_particular_rule_holds() -> None:
    rules = {
        QuotaKey("x", "c"): 1.0,
        QuotaKey("x", DEFAULT): 2.0,
        QuotaKey("x", None): 3.0,
        QuotaKey(DEFAULT, "c"): 4.0,
        QuotaKey(DEFAULT, DEFAULT): 5.0,
        QuotaKey(DEFAULT, None): 6.0,
        QuotaKey(None, "c"): 7.0,
        QuotaKey(None, DEFAULT): 8.0,
    }
    book = QuotaBook({key: {PRODUCE: rate} for key, rate in rules.items()})
    for key, rate in rules.items():
        assert book.rule_for(PRODUCE, "x", "c") == (key, rate)
        book = book.with_rule(key, {})
    assert book.rule_for(PRODUCE, "x", "c") is None


def test_each_client_of_a_default_has_a_meter_of_its_own() -> None:
    book = QuotaBook({QuotaKey(None, DEFAULT): {PRODUCE: 1000.0}})
    throttle = Throttle(lambda: book, lambda: 0)
    assert throttle.charge(PRODUCE, "u", "one", 5_000) == 4_000
    assert throttle.charge(PRODUCE, "u", "two", 1_000) == 0
    assert throttle.charge("consumer_byte_rate", "u", "one", 5_000) == 0
