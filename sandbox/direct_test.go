package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// modules are programs that the sandbox runs with and without a bundler.
var modules = strings.Split(strings.TrimSpace(`
import fs, {readFileSync as r, writeFileSync} from 'node:fs';
import * as path from 'path';
writeFileSync('./x', 'hello');
export const y = 1;
export default async function (input) {
  return [r('./x', 'utf8'), fs.readFileSync === r, path.join('a', 'b'), path.default === path.posix, this === undefined,
    Object.keys(path).length, Object.prototype.toString.call(path)];
}
=====
export default class { static n = this.name }
=====
export default (class { static n = this.name }).n
=====
const x = 5
export default () => { throw new Error('boom' + x) }
=====
export const handler = async (event) => [this === undefined, event];
=====
export const handler = (e) => 'handled';
export default 4
=====
const handler = () => 'not exported';
export default function main() { return main.name }
=====
export default function () { throw new RangeError('named default') }
(1, 2)
=====
export default {a: 1, f() { return 1 }, b: [1, 2]}; console.log('behind')
=====
import {nope} from 'fs';
export default 1
=====
import {toString} from 'fs'; typeof toString
=====
import {CallTracker} from 'assert'; typeof CallTracker
=====
import def, * as all from 'node:fs'; [def === all.default, all.readFileSync === def.readFileSync]
=====
import {default as a, readFileSync} from 'node:fs'; a.readFileSync === readFileSync
=====
console.log(typeof require, typeof module, this); import 'fs'
=====
import child from 'child_process'
child.execSync('ls')
=====

import { EventEmitter } from 'events'
import missing from 'node:nosuch'
=====
import {setTimeout as sleep} from 'node:timers/promises'; await sleep(1); console.log('done'); 'x'
=====
import assert from 'node:assert/strict'; assert.equal(1, 2)
=====
import util from 'util'
const a = util.inspect({a: 1})
a
=====
import * as events from 'events'; [typeof events.default, events.once.name, events[Symbol.toStringTag]]
=====
export function a() { return 1 }
export function a() { return 2 }
=====
export default (function () { return this === undefined })
=====
export default await Promise.resolve(7)
=====
let n = 1; export default n; n = 2;
=====
export default function f() { return 1 }
f = () => 2;
=====
export async function handler(event, context) { return [event, context] }
=====
export default new Promise((r) => setTimeout(() => r(5), 1))
=====
export default undefined
=====
export const a = 1
=====
throw new RangeError('top')
export default 1
=====
export default async function () {
  const inner = () => { throw new Error('deep') }
  await null
  inner()
}
=====
import EventEmitter from 'events'
class E extends EventEmitter {}
const e = new E(); e.on('x', (v) => console.log('got', v)); e.emit('x', 1)
=====
console.log(import.meta.url, import.meta.dirname); export default import.meta.filename
=====
import { fileURLToPath } from 'url'; if (import.meta.main) console.log(fileURLToPath(import.meta.url))
=====
const { readFile } = await import('node:fs/promises'); typeof readFile
=====
import('fs').then((fs) => console.log(fs.default.readFileSync === fs.readFileSync))
=====
try { await import('child_process') } catch (e) { console.log(e.message, e.code) }
=====
for await (const x of [Promise.resolve(1)]) console.log(x)
export default /[\p{L}--[a-z]]/v.test('A')
=====
exports.handler = async (event) => [event, this === module.exports]
=====
module.exports = function () { return module.id + typeof require.main + typeof __filename }
=====
exports.__esModule = true; exports.default = () => 'compiled'
=====
const m = require('path'); module.exports = class A {}; module.exports.sep = m.sep
=====
exports.handler = () => { throw new Error('CommonJS') }
=====
module.exports = null
=====
import fs, { type Stats } from 'node:fs'; const a: number = 5; export default (x: number): any => [x, a, typeof fs]
=====
import { readFileSync, PathLike } from 'fs'; const p: PathLike = 'x'; export default typeof readFileSync
=====
import type { X } from 'fs'; enum E { A, B }; const b: number = E.B; b
=====
import assert from 'assert'
function f<T>(x: T): T { throw new Error('typed') }

export default async function (x: any) {
  f<number>(1)
}
=====
import os from 'os'
namespace N { export const x: number = 1 }
export default N.x + typeof os
`), "\n=====\n")

// A module has the same value, output and error whether it is bundled, as that of a version is, or not.
func TestModulesWithoutBundler(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}}
	for i, code := range modules {
		script := sandbox.Script{Code: code, Input: []byte("7"), TypeScript: i >= len(modules)-5}
		r := run(t, e, script, grants)
		script.Version = fmt.Sprint(i)
		want := run(t, e, script, grants)
		if string(r.Value) != string(want.Value) || r.Output != want.Output || r.Error != want.Error {
			t.Errorf("%s\nhas the value %s, output %q, error %q; bundled %s, %q, %q", code, r.Value, r.Output, r.Error,
				want.Value, want.Output, want.Error)
		}
		if r.Exception != nil && want.Exception != nil && r.Exception.Line != want.Exception.Line {
			t.Errorf("%s\nfails at line %d, bundled at line %d", code, r.Exception.Line, want.Exception.Line)
		}
	}
}

// What is imported cannot be assigned to, and a namespace cannot be changed, as in Node.
func TestImportsAreConstant(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for code, want := range map[string]string{
		"import {join} from 'path'; join = 5":            "TypeError",
		"import * as path from 'path'; path.x = 5":       "TypeError",
		"import path from 'path'; const path = 1":        "SyntaxError: Identifier 'path' has already been declared",
		"import os from 'os'\nif (os) return\nlet os":    "SyntaxError: Identifier 'os' has already been declared",
		"import path from 'path'; function path() {}; 1": "SyntaxError: Identifier 'path' has already been declared",
	} {
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Modules: []string{"*"}})
		if !strings.HasPrefix(r.Error, want) {
			t.Errorf("%s: %s", code, r.Error)
		}
	}
}

// A function without a name that is the default export is called default, in stacks too.
func TestDefaultExportIsNamed(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, code := range []string{
		"export default function () { return new Error('m').stack }", "export default () => new Error('m').stack",
		"export default async () => { return new Error('m').stack }",
	} {
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
		if !strings.HasPrefix(string(r.Value), `"Error: m\n    at default (script.js:1:`) {
			t.Errorf("%s: %s %s", code, r.Value, r.Error)
		}
	}
}
