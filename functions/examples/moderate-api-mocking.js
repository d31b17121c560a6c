// A REST API in memory, and the tests that its clients would run against it.
// tier: standard

function service() {
  const items = new Map();
  let next = 1;
  const routes = {
    "GET /items": () => [200, [...items.values()]],
    "POST /items": (_, body) => {
      if (!body?.name) return [422, { error: "name is required" }];
      const item = { id: next++, ...body };
      items.set(item.id, item);
      return [201, item];
    },
    "GET /items/:id": (id) => (items.has(id) ? [200, items.get(id)] : [404, { error: "not found" }]),
    "PUT /items/:id": (id, body) => {
      if (!items.has(id)) return [404, { error: "not found" }];
      items.set(id, { ...body, id });
      return [200, items.get(id)];
    },
    "DELETE /items/:id": (id) => [items.delete(id) ? 204 : 404, null],
  };
  return (method, path, body) => {
    const [, root, id] = new URL(path, "http://mock").pathname.split("/");
    const handler = routes[`${method} /${root}${id ? "/:id" : ""}`];
    const [status, data] = handler ? handler(Number(id), body) : [405, { error: "method not allowed" }];
    return { status, data };
  };
}

const call = service();
const tests = [
  ["starts empty", () => call("GET", "/items").data.length === 0],
  ["creates", () => call("POST", "/items", { name: "lamp" }).status === 201],
  ["refuses what has no name", () => call("POST", "/items", {}).status === 422],
  ["reads", () => call("GET", "/items/1").data.name === "lamp"],
  ["replaces", () => call("PUT", "/items/1", { name: "desk", id: 9 }).data.id === 1],
  ["deletes once", () => call("DELETE", "/items/1").status === 204 && call("DELETE", "/items/1").status === 404],
  ["knows its methods", () => call("PATCH", "/items/1").status === 405],
];
const failed = tests.filter(([name, test]) => {
  const ok = test();
  console.log(ok ? "ok  " : "FAIL", name);
  return !ok;
});
({ passed: tests.length - failed.length, failed: failed.length });
