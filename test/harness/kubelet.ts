import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as https from 'node:https';
import { type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { makeEtcdCertificates, type EtcdCertificates } from './etcd-certificates.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTPS server in the place of a kubelet, which requires a client certificate. */
export interface TestKubelet {
  readonly port: number;
  readonly certificates: EtcdCertificates;
  /** URLs of the requests, in order. */
  readonly urls: string[];
  /** Headers of the last request. */
  headers: IncomingMessage['headers'];
  handler: Handler;
  upgraded: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  stop(): void;
}

/** An address of this machine that proxies may reach; undefined if it has none but loopback. */
export function ownAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
}

/** Returns `it`, or a skipped test that says why, if this machine has no address that proxies may reach. */
export function itWithAddress(): typeof it {
  if (ownAddress() !== undefined) return it;
  process.stderr.write('SKIPPED: tests of proxies need an address of this machine besides loopback\n');
  return it.skip;
}

export async function startKubelet(): Promise<TestKubelet> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-kubelet-'));
  const address = ownAddress();
  const certificates = await makeEtcdCertificates(folder, ['127.0.0.1', ...(address === undefined ? [] : [address])]);
  const server = https.createServer({
    ca: readFileSync(certificates.caFile),
    cert: readFileSync(certificates.serverCertFile),
    key: readFileSync(certificates.serverKeyFile),
    requestCert: true,
    rejectUnauthorized: true,
  });
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const kubelet: TestKubelet = {
    port: (server.address() as AddressInfo).port,
    certificates,
    urls: [],
    headers: {},
    handler: (_request, response) => response.end('ok'),
    upgraded: (_request, socket) => socket.destroy(),
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const note = (request: IncomingMessage) => {
    kubelet.urls.push(`${request.method} ${request.url}`);
    kubelet.headers = request.headers;
  };
  server.on('request', (request, response) => {
    note(request);
    kubelet.handler(request, response);
  });
  server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
    note(request);
    socket.on('error', () => socket.destroy());
    kubelet.upgraded(request, socket, head);
  });
  return kubelet;
}
