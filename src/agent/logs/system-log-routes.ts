import { constants, createReadStream } from 'node:fs';
import { open, readlink, realpath, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { AgentError, type AgentRequest } from '../server/agent-request.js';
import { sendText } from '../server/agent-response.js';
import { restOfPath, type Route } from '../server/routes.js';

/** Names in a list of a directory; more are left out. */
const namesMax = 10_000;

/** GET /logs/: the files below a directory. Links that lead out of it are not found. */
export function systemLogRoutes(directory: string): readonly Route[] {
  const handle = (request: AgentRequest) => serve(directory, request);
  return [{ methods: ['GET'], path: '/logs/*', handle }];
}

async function serve(directory: string, { path, parameters, response, method }: AgentRequest): Promise<void> {
  const rest = parameters.get(restOfPath) ?? '';
  const steps = rest.split('/');
  const isPlain = steps.every(
    (step, index) => step !== '.' && step !== '..' && (step !== '' || index === steps.length - 1),
  );
  if (!isPlain || rest.includes('\0')) throw new AgentError(400, 'invalid path');
  const handle = await openBelow(directory, rest);
  let isStreaming = false;
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      if (!path.endsWith('/')) {
        response.setHeader('Location', `${encodeURIComponent(steps.at(-1) || 'logs')}/`);
        return sendText(response, 301, '');
      }
      return sendText(response, 200, await listOf(`/proc/self/fd/${handle.fd}`), 'text/html; charset=utf-8');
    }
    // Pipes and devices would never end.
    if (!stats.isFile()) throw notFound();
    response.statusCode = 200;
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Last-Modified', stats.mtime.toUTCString());
    response.setHeader('Content-Length', stats.size);
    if (method === 'HEAD' || stats.size === 0) return void response.end();
    isStreaming = true;
    // No further than its size: the file may grow while it is read. If it shrinks, the answer is cut.
    const source = createReadStream('', { fd: handle, start: 0, end: stats.size - 1 });
    pipeline(source, response as NodeJS.WritableStream, () => undefined);
  } finally {
    if (!isStreaming) await handle.close();
  }
}

const notFound = () => new AgentError(404, '404 page not found\n');

/** Opens a file, and closes it again if its real path is not below the directory: a link may change at any time. */
async function openBelow(directory: string, rest: string): Promise<FileHandle> {
  const root = await realpath(directory).catch(() => {
    throw notFound();
  });
  const handle = await open(join(root, rest), constants.O_RDONLY | constants.O_NONBLOCK).catch(() => {
    throw notFound();
  });
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => '');
  if (real === root || real.startsWith(`${root === '/' ? '' : root}/`)) return handle;
  await handle.close();
  throw notFound();
}

async function listOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
  const lines = names
    .slice(0, namesMax)
    .map((name) => `<a href="./${encodeURI(name).replace(/[?#"&<>]/g, escaped)}">${shown(name)}</a>\n`);
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

const escaped = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};
const shown = (name: string) => name.replace(/[&<>"']/g, (character) => entities[character]!);
