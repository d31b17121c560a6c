package sandbox_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

const testsOfNode = `import { test, describe, it, before, after, beforeEach, afterEach } from 'node:test';
import assert from 'node:assert/strict';
const log = [];
before(() => log.push('before')); after(() => { console.log(log.join(' ')) });
beforeEach(() => log.push('each')); afterEach(() => log.push('/each'));
test('passes', async (t) => { await null; t.diagnostic('note'); });
describe('group', () => {
  before(() => log.push('group')); after(() => log.push('/group'));
  beforeEach(() => log.push('inner')); afterEach(() => log.push('/inner'));
  it('works', () => { log.push('works') });
  it('fails', () => { throw new TypeError('bad') });
});
test('parent', async (t) => { await t.test('child', (t, done) => setTimeout(done, 1)); });
test('late', (t) => { t.test('child', () => new Promise(() => {})); });
test('skipped', { skip: 'why' }, () => {});
test.todo('open # question');
test('mocks', async (t) => {
  const o = { f: (x) => x + 1 }, m = t.mock.method(o, 'f', (x) => -x);
  assert.equal(o.f(2), -2);
  assert.deepEqual(m.mock.calls[0].arguments, [2]);
  m.mock.restore();
  assert.equal(o.f(2), 3);
});
test('stays', { timeout: 5 }, () => new Promise((r) => setTimeout(r, 100)));`

// tapOfNode is what Node 20 prints for testsOfNode, without times, stacks and what console.log prints.
const tapOfNode = `TAP version 13
# Subtest: passes
ok 1 - passes
# note
# Subtest: group
    # Subtest: works
    ok 1 - works
    # Subtest: fails
    not ok 2 - fails
      location: 'L'
      failureType: 'testCodeFailure'
      error: 'bad'
      code: 'ERR_TEST_FAILURE'
      name: 'TypeError'
    1..2
not ok 2 - group
  type: 'suite'
  location: 'L'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  code: 'ERR_TEST_FAILURE'
# Subtest: parent
    # Subtest: child
    ok 1 - child
    1..1
ok 3 - parent
# Subtest: late
    # Subtest: child
    not ok 1 - child
      location: 'L'
      failureType: 'cancelledByParent'
      error: 'test did not finish before its parent and was cancelled'
      code: 'ERR_TEST_FAILURE'
    1..1
not ok 4 - late
  location: 'L'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  code: 'ERR_TEST_FAILURE'
# Subtest: skipped
ok 5 - skipped # SKIP why
# Subtest: open \# question
ok 6 - open \# question # TODO
# Subtest: mocks
ok 7 - mocks
# Subtest: stays
not ok 8 - stays
  location: 'L'
  failureType: 'testTimeoutFailure'
  error: 'test timed out after 5ms'
  code: 'ERR_TEST_FAILURE'
1..8
# tests 11
# suites 1
# pass 5
# fail 2
# cancelled 2
# skipped 1
# todo 1
`

var untimed = regexp.MustCompile(`(?m)^#? *duration_ms.*\n|^ *(---|\.\.\.|stack: \|-|<anonymous>.*)\n|^before .*\n`)

// Tests of node:test run as in Node, and fail the run if one of them fails.
func TestTestsOfNode(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: testsOfNode}, sandbox.Grants{})
	places := regexp.MustCompile(`location: '[^']*'`)
	got := places.ReplaceAllString(untimed.ReplaceAllString(r.Output, ""), "location: 'L'")
	if diff := cmp.Diff(tapOfNode, got); diff != "" {
		t.Errorf("printed (-want +got)\n%s", diff)
	}
	if want := "Error: 4 of 11 tests failed"; r.Error != want {
		t.Errorf("the run fails with %q, want %q", r.Error, want)
	}
	const order = "before each /each group each inner works /inner /each each inner /inner /each /group"
	if !regexp.MustCompile(`(?m)^` + order).MatchString(r.Output) {
		t.Errorf("the hooks ran in another order:\n%s", r.Output)
	}
	code := "const test = require('node:test'); test('a', () => {})"
	passing := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
	if passing.Error != "" || !regexp.MustCompile(`(?m)^# pass 1$`).MatchString(passing.Output) {
		t.Errorf("a test that passes: %q, %s", passing.Error, passing.Output)
	}
	code = "Error.prepareStackTrace = (_, sites) => sites\n" +
		"const declare = () => require('node:test')('a', () => { throw 1 })\ndeclare()"
	prepared := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
	if !regexp.MustCompile(`location: '[^']*script\.js:2:\d+'`).MatchString(prepared.Output) {
		t.Errorf("with a prepared stack, the location is not that of the test: %s", prepared.Output)
	}
	if r := run(t, e, sandbox.Script{Code: "require('test')"}, sandbox.Grants{}); r.Error == "" {
		t.Error("the module has a name without node:")
	}
}
