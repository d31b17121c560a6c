/** The tools of one run, by the name that the gateway calls them by. */
export class Toolbox {
    wire = [];
    tools = new Map();
    constructor(tools) {
        for (const [name, entry] of Object.entries(tools)) {
            if (isTool(entry)) {
                this.add(name, entry);
                continue;
            }
            for (const [method, tool] of Object.entries(entry))
                this.add(`${name}:${method}`, tool);
        }
    }
    add(name, entry) {
        if (!isTool(entry))
            throw new TypeError(`the tool ${name} must be a function, or an object with execute`);
        const tool = typeof entry === "function" ? { execute: entry } : entry;
        const wire = { name, via: "caller" };
        if (tool.description !== undefined)
            wire.description = tool.description;
        if (tool.inputSchema !== undefined)
            wire.inputSchema = jsonSchema(name, tool.inputSchema);
        if (tool.outputSchema !== undefined)
            wire.outputSchema = jsonSchema(name, tool.outputSchema);
        this.wire.push(wire);
        this.tools.set(name, tool);
    }
    /** Calls a tool and returns the body of the answer. */
    async answer(name, params, context) {
        try {
            const tool = this.tools.get(name);
            if (tool === undefined)
                throw new Error(`there is no tool ${name}`);
            const parser = tool.inputSchema;
            const value = await tool.execute(typeof parser?.parse === "function" ? parser.parse(params) : params, context);
            return JSON.stringify({ value: value === undefined ? null : value });
        }
        catch (error) {
            return failure(error);
        }
    }
}
/** The body of an answer that rejects the call. The guest sees the message, and nothing else of the error. */
export function failure(error) {
    let text = String((error instanceof Error ? error.message : error) || "the tool failed");
    while (new TextEncoder().encode(text).length > 1000)
        text = text.slice(0, Math.floor(text.length * 0.9));
    return JSON.stringify({ error: text });
}
function isTool(entry) {
    return typeof entry === "function" || (typeof entry === "object" && entry !== null &&
        typeof entry.execute === "function");
}
// zod is not imported: its schemas are known by what they can do.
function jsonSchema(name, schema) {
    const made = schema;
    if (typeof made.toJSONSchema === "function")
        schema = made.toJSONSchema();
    else if (typeof made.parse === "function") {
        throw new TypeError(`the schema of ${name} cannot be written as JSON Schema; use zod 4.3 or later, or z.toJSONSchema(schema)`);
    }
    return schema;
}
