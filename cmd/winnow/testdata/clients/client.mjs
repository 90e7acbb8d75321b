// A client of the Model Context Protocol with the TypeScript SDK. Its arguments are the kind of
// connection, and the command with its arguments or the address and the token.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, ...args] = process.argv.slice(2);
const transport = kind === "http"
  ? new StreamableHTTPClientTransport(new URL(args[0]), { requestInit: { headers: { Authorization: `Bearer ${args[1]}` } } })
  : new StdioClientTransport({ command: args[0], args: args.slice(1), env: process.env, stderr: "inherit" });
const client = new Client({ name: `TypeScript ${kind}`, version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const { prompts } = await client.listPrompts();
const rules = await client.readResource({ uri: "winnow://rules" });
const added = await client.callTool({ name: "add_ignore_rule", arguments: { pattern: `ts-${kind}-*` } });
const refused = await client.callTool({ name: "add_ignore_rule", arguments: { pattern: "" } });
console.log(JSON.stringify({
  tools: tools.map((t) => t.name), prompts: prompts.length, rules: rules.contents[0].mimeType,
  added: added.structuredContent, refused: refused.isError === true,
}));
await client.close();
process.exit(0);
