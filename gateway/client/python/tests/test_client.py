"""Tests both clients against a gateway: AIRLOCK_URL, AIRLOCK_TOKEN."""

import asyncio
import os
import threading
import time
import unittest
from datetime import datetime, timedelta
from typing import Any, Callable

import httpx

from airlock_client import Airlock, AirlockError, AsyncAirlock, ExecutionError, Tool

try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]

URL, TOKEN = os.environ["AIRLOCK_URL"], os.environ["AIRLOCK_TOKEN"]


def weather(city: str, days: int = 1) -> dict[str, Any]:
    """The weather of a city."""
    if city == "Atlantis":
        raise ValueError("there is no such city")
    return {"city": city, "degrees": 20 + days}


def new_key() -> str:
    return f"python-{time.time_ns()}"


def answers_to_cancellations(answers: list[int]) -> Callable[[httpx.Response], None]:
    """Returns a hook that appends the status of each answer to a cancellation."""

    def hook(response: httpx.Response) -> None:
        if response.request.method == "DELETE":
            answers.append(response.status_code)

    return hook


class SyncTest(unittest.TestCase):
    def setUp(self) -> None:
        self.airlock = Airlock.connect(URL, TOKEN)
        self.addCleanup(self.airlock.close)

    def test_run(self) -> None:
        result = self.airlock.run("input.map(n => n * 2)", input=[1, 2])
        self.assertEqual((result.ok, result.value(), result.status, result.limit), (True, [2, 4], "completed", None))
        self.assertIn("completed", repr(result))
        files = self.airlock.run("", entry="a.js", files={"a.js": "export default require('./b.json').n", "b.json": b'{"n":3}'})
        self.assertEqual(files.value(), 3)

    def test_failures_are_results(self) -> None:
        for code, options, status, limit in [
            ("throw new TypeError('no')", {}, "error", None),
            ("for (;;);", {"timeout": 100}, "timeout", "wall"),
            ("for (let i = 0; i < 9; i++) await weather({city: 'Rome'})",
             {"tools": {"weather": weather}, "limits": {"apiCalls": 3}}, "error", "apiCalls"),
        ]:
            result = self.airlock.run(code, **options)
            with self.assertRaises(ExecutionError) as raised:
                result.value()
            self.assertEqual((raised.exception.status, raised.exception.limit), (status, limit), code)

    def test_errors(self) -> None:
        with self.assertRaises(AirlockError) as raised:
            self.airlock.run("1", policy="none such")
        self.assertEqual((raised.exception.status, raised.exception.code, raised.exception.field),
                         (400, "invalid_request", "policy"))
        with self.assertRaises(AirlockError) as raised:
            Airlock.connect(URL, "wrong").run("1")
        self.assertEqual(raised.exception.status, 401)
        with self.assertRaises(AirlockError) as raised:
            Airlock.connect("http://127.0.0.1:1", retries=0).run("1")
        self.assertEqual(raised.exception.code, "unreachable")
        with self.assertRaises(TypeError):
            self.airlock.run("1", polcy="strict")
        with self.assertRaises(ValueError):
            Airlock.connect("example.com")

    def test_logs_arrive(self) -> None:
        logs = []
        result = self.airlock.run("console.log('a'); console.warn('b\\nc'); return 1", on_log=logs.append)
        self.assertEqual([(log.level, log.message) for log in logs], [("log", "a"), ("warn", "b\nc")])
        self.assertEqual(result.value(), 1)

    def test_tools(self) -> None:
        tools = {
            "weather": weather,
            "crm": {"find": Tool(lambda name: {"name": name}, input_schema={
                "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})},
            "odd": lambda **_: object(),
            "large": lambda **_: "x" * 3_000_000,
        }
        run = lambda code: self.airlock.run(code, tools=tools).value()
        self.assertEqual(run("(await weather({city: 'Rome', days: 2})).degrees"), 22)
        self.assertEqual(run("(await crm.find({name: 'Ada'})).name"), "Ada")
        self.assertEqual(run("await weather({city: 'Atlantis'}).catch(e => e.message)"),
                         "tool weather: there is no such city")
        self.assertIn("do not fit", run("await weather({city: 7}).catch(e => e.message)"))
        self.assertIn("do not fit", run("await crm.find({}).catch(e => e.message)"))
        self.assertIn("cannot be written as JSON", run("await odd({}).catch(e => e.message)"))
        self.assertIn("refused", run("await large({}).catch(e => e.message)"))
        self.assertEqual(run("(await Promise.all([1, 2, 3].map(days => weather({city: 'Rome', days})))).length"), 3)

    def test_tool_that_exits(self) -> None:
        for code in (SystemExit("gone"), KeyboardInterrupt()):
            def leave() -> None:
                raise code

            began = time.monotonic()
            result = self.airlock.run("await leave({}).catch(e => e.message)", tools={"leave": leave}, policy="agent")
            self.assertIn(result.value(), ["tool leave: gone", "tool leave: KeyboardInterrupt"])
            self.assertLess(time.monotonic() - began, 20)

    def test_tools_run_at_once(self) -> None:
        together = threading.Barrier(5, timeout=20)
        result = self.airlock.run("await Promise.all([1, 2, 3, 4, 5].map(n => meet({n})))",
                                  tools={"meet": lambda n: n if together.wait() >= 0 else None}, policy="agent")
        self.assertEqual(result.value(), [1, 2, 3, 4, 5])

    @unittest.skipIf(pydantic is None, "pydantic is not installed")
    def test_models(self) -> None:
        class City(pydantic.BaseModel):
            name: str
            days: int = 1

        def forecast(city: City) -> City:
            return City(name=city.name.upper(), days=city.days + 1)

        result = self.airlock.run("await forecast({name: 'Rome'})", tools={"forecast": forecast})
        self.assertEqual(result.value(), {"name": "ROME", "days": 2})
        refused = self.airlock.run("await forecast({days: 1}).catch(e => e.message)", tools={"forecast": forecast})
        self.assertIn("do not fit", refused.value())

    def test_stopping_a_stream(self) -> None:
        cancelled = []
        client = httpx.Client(event_hooks={"response": [answers_to_cancellations(cancelled)]}, timeout=60)
        self.addCleanup(client.close)
        airlock = Airlock.connect(URL, TOKEN, client=client)
        stream = airlock.stream("console.log('on'); for (;;) await 0", policy="agent")
        self.assertEqual(next(stream).log.message, "on")
        stream.close()
        self.assertEqual(cancelled, [202])
        self.assertEqual(airlock.run("1", on_log=print).value(), 1)  # there is one function process
        stream = airlock.stream("console.log('on'); await new Promise(r => setTimeout(r, 50))", policy="agent", idempotency_key=new_key())
        self.assertEqual(next(stream).log.message, "on")
        stream.close()
        self.assertEqual(cancelled, [202])

    def test_submit(self) -> None:
        execution = self.airlock.submit("6 * 7")
        self.assertEqual(execution.wait(timeout=30).value(), 42)
        endless = self.airlock.submit("for (;;);", policy="agent")
        endless.cancel()
        self.assertEqual(self.airlock.execution(endless.id).wait(timeout=30).status, "cancelled")

    def test_sessions(self) -> None:
        session = self.airlock.sessions.create(policy="standard", max_age=600_000)
        self.assertIsNone(session.run("let n = input", input=40).value())
        self.assertEqual(session.run("n += 2").value(), 42)
        copy = session.fork(step=1)
        self.assertEqual(copy.run("n").value(), 40)
        self.assertEqual(self.airlock.sessions.get(session.id).run("n").value(), 42)
        self.assertLessEqual({session.id, copy.id}, {s.id for s in self.airlock.sessions.list()})
        session.delete()
        copy.delete()
        with self.assertRaises(AirlockError) as gone:
            session.run("n")
        self.assertEqual(gone.exception.status, 404)

    def test_approvals(self) -> None:
        approvals = self.airlock.approvals
        run = self.airlock.run("return [await airlock.approve({title: 'How many?', schema: {type: 'number'}}),"
                               " await airlock.approve({title: 'Sure?'})]")
        self.assertEqual((run.ok, run.status, run.result), (False, "paused", None))
        self.assertEqual(run.wire["waiting"][0]["title"], "How many?")
        with self.assertRaises(ExecutionError):
            run.value()
        self.assertIn(run.id, [paused["id"] for paused in approvals.list()])
        self.assertIn("Sure?", approvals.get(run.id)["code"])
        with self.assertRaises(AirlockError) as refused:
            approvals.decide(run.id, {"seq": 7, "decision": "approve"})
        self.assertEqual(refused.exception.code, "not_waiting")
        following = approvals.decide(run.id, {"seq": 1, "decision": "respond", "value": 3})
        self.assertEqual(following["waiting"][0]["title"], "Sure?")
        self.assertEqual(self.airlock.execution(run.id).wait().status, "paused")
        with self.assertRaises(TimeoutError):
            self.airlock.execution(run.id).wait(timeout=0.1, end=True)
        ended = approvals.decide(run.id, {"seq": 2, "decision": "approve", "reason": "why not"})
        self.assertEqual(ended.value(), [3, True])
        self.assertEqual(self.airlock.execution(run.id).wait(timeout=30, end=True).value(), [3, True])
        *_, last = self.airlock.stream("await airlock.approve({title: 'Hm?'})")
        self.assertEqual(last.result.status, "paused")
        self.airlock.execution(last.result.id).cancel()

    def test_idempotency(self) -> None:
        key = new_key()
        first = self.airlock.run("Math.random()", idempotency_key=key)
        self.assertEqual(self.airlock.run("Math.random()", idempotency_key=key).id, first.id)

    def test_versions(self) -> None:
        functions = self.airlock.functions
        functions.save("py-versions", "export default () => 'old'")
        functions.save("py-versions", "export default () => 'new'")
        self.addCleanup(functions.delete, "py-versions")
        self.assertEqual(functions.get("py-versions", version=1)["code"], "export default () => 'old'")
        self.assertEqual([(v["version"], v["aliases"]) for v in functions.versions("py-versions")], [(2, ["latest"]), (1, [])])
        self.assertIn("-export default () => 'old'", functions.diff("py-versions")["files"]["code"])
        self.assertTrue(functions.diff("py-versions", 2, 2)["same"])
        self.assertEqual(functions.set_alias("py-versions", "live", 1)["version"], 1)
        self.assertEqual(functions.set_alias("py-versions", "live", 2)["previous"], 1)
        self.assertEqual(functions.rollback("py-versions", "live")["version"], 1)
        self.assertEqual([(a["alias"], a["version"]) for a in functions.aliases("py-versions")], [("latest", 2), ("live", 1)])
        self.assertEqual(functions.invoke("py-versions", alias="live").value(), "old")
        functions.delete_alias("py-versions", "live")
        with self.assertRaises(AirlockError) as raised:
            functions.get("py-versions", alias="live")
        self.assertEqual(raised.exception.status, 404)

    def test_events_and_records(self) -> None:
        since = datetime.now() - timedelta(minutes=1)
        run = self.airlock.run("return (await airlock.waitForEvent('reply a/b')).text")
        self.assertEqual(run.status, "paused")
        self.assertEqual(self.airlock.execution(run.id).send_event("reply a/b", {"text": "yes"}).value(), "yes")
        self.assertEqual(self.airlock.records.get(run.id)["status"], "paused")  # of its first segment
        self.assertIn(run.id, [r["id"] for r in self.airlock.records.list(status="paused", since=since)])
        self.assertNotIn(run.id, [r["id"] for r in self.airlock.records.list(until=since)])

    def test_functions_and_analysis(self) -> None:
        functions = self.airlock.functions
        saved = functions.save("py-double", "export default input => input * 2")
        self.assertEqual(saved["version"], 1)
        self.assertEqual(functions.invoke("py-double", 21).value(), 42)
        self.assertIn("py-double", [f["name"] for f in functions.list()])
        functions.delete("py-double")
        with self.assertRaises(AirlockError) as raised:
            functions.invoke("py-double")
        self.assertEqual(raised.exception.status, 404)
        self.assertEqual(self.airlock.analyze("const = 1")["syntaxError"]["line"], 1)


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.airlock = AsyncAirlock.connect(URL, TOKEN)
        self.addAsyncCleanup(self.airlock.close)

    async def test_run(self) -> None:
        self.assertEqual((await self.airlock.run("input + 1", input=1)).value(), 2)
        with self.assertRaises(AirlockError):
            await self.airlock.run("1", policy="none such")

    async def test_tools(self) -> None:
        async def today(city: str) -> str:
            await asyncio.sleep(0)
            if city == "Atlantis":
                raise ValueError("there is no such city")
            return city.upper()

        logs = []
        result = await self.airlock.run(
            "console.log('on'); return [await today({city: 'Rome'}), await weather({city: 'Rome'})]",
            tools={"today": today, "weather": weather}, on_log=logs.append)
        self.assertEqual(result.value(), ["ROME", {"city": "Rome", "degrees": 21}])
        self.assertEqual(logs[0].message, "on")
        failed = await self.airlock.run("await today({city: 'Atlantis'})", tools={"today": today})
        self.assertEqual((failed.status, failed.error), ("error", "Error: tool today: there is no such city"))

    async def test_tool_that_exits(self) -> None:
        for code in (SystemExit("gone"), KeyboardInterrupt()):
            def leave() -> None:
                raise code

            async def leave_later() -> None:
                raise code

            for tool in (leave, leave_later):
                result = await self.airlock.run("await leave({}).catch(e => e.message)", tools={"leave": tool},
                                                policy="agent")
                self.assertIn(result.value(), ["tool leave: gone", "tool leave: KeyboardInterrupt"])

    async def test_cancelled_task(self) -> None:
        called = asyncio.Event()

        async def never() -> None:
            called.set()
            await asyncio.Event().wait()

        cancelled = []

        async def hook(response: httpx.Response) -> None:
            answers_to_cancellations(cancelled)(response)

        client = httpx.AsyncClient(event_hooks={"response": [hook]}, timeout=60)
        self.addAsyncCleanup(client.aclose)
        airlock = AsyncAirlock.connect(URL, TOKEN, client=client)
        task = asyncio.create_task(airlock.run("await never()", tools={"never": never}, policy="agent"))
        await called.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(cancelled, [202])
        self.assertEqual((await self.airlock.run("1")).value(), 1)

    async def test_submit(self) -> None:
        execution = await self.airlock.submit("6 * 7")
        self.assertEqual((await execution.wait(timeout=30)).value(), 42)

    async def test_sessions_and_approvals(self) -> None:
        async with AsyncAirlock.connect(URL, TOKEN) as airlock:
            session = await airlock.sessions.create()
            await session.run("let n = 40")
            copy = await session.fork()
            self.assertEqual((await copy.run("n + 2")).value(), 42)
            self.assertLessEqual({session.id, copy.id}, {s.id async for s in airlock.sessions.list()})
            await (await airlock.sessions.get(copy.id)).delete()
            await session.delete()
            run = await airlock.run("return await airlock.approve({title: 'Sure?'})")
            self.assertIn(run.id, [paused["id"] async for paused in airlock.approvals.list()])
            self.assertEqual((await airlock.approvals.get(run.id))["status"], "paused")
            ended = await airlock.approvals.decide(run.id, {"seq": 1, "decision": "approve"})
            self.assertEqual(ended.value(), True)

    async def test_events_and_records(self) -> None:
        run = await self.airlock.run("return await airlock.waitForEvent('reply')")
        self.assertEqual((await self.airlock.execution(run.id).send_event("reply", 3)).value(), 3)
        self.assertEqual((await self.airlock.records.get(run.id))["status"], "paused")
        self.assertIn(run.id, [r["id"] async for r in self.airlock.records.list(status="paused")])

    async def test_functions(self) -> None:
        await self.airlock.functions.save("py-async", "export default input => input * 2")
        self.assertEqual((await self.airlock.functions.invoke("py-async", 21)).value(), 42)
        self.assertIn("py-async", [f["name"] async for f in self.airlock.functions.list()])
        self.assertEqual([v["version"] for v in await self.airlock.functions.versions("py-async")], [1])
        self.assertEqual((await self.airlock.functions.set_alias("py-async", "live", 1))["version"], 1)
        self.assertEqual((await self.airlock.functions.get("py-async", alias="live"))["version"], 1)
        await self.airlock.functions.delete("py-async")


if __name__ == "__main__":
    unittest.main()
