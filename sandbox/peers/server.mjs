// The bare minimum that does over HTTP what POST /api/execute does with one script: no authentication, no policy, no
// record, no second process.
import { createServer } from 'node:http';
import ivm from 'isolated-vm';

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { code } = JSON.parse(Buffer.concat(chunks));
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = await isolate.createContext();
    const script = await isolate.compileScript(code);
    const result = await script.run(context, { timeout: 5000 });
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ status: 'completed', result }));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  } finally {
    isolate.dispose();
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
