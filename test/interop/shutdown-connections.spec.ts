import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { startKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { startKubelet } from '../harness/kubelet.js';

// A stopping server with followed logs and an exec: it waits for other requests only.

const namespace = '/api/v1/namespaces/default';

it.each(['http/1.1', 'h2'] as const)('a stop cuts a followed log by %s and an exec, at both ends', async (protocol) => {
  const kubelet = await startKubelet();
  const { caFile, clientCertFile, clientKeyFile } = kubelet.certificates;
  const kubelets = { certificateAuthority: caFile, clientCertificate: clientCertFile, clientKey: clientKeyFile };
  const server = await startKeelson({
    config: {
      kubelets: { ...kubelets, preferredAddressTypes: ['InternalIP'] },
      limits: { shutdownGraceMs: 200_000 },
    },
  });
  const client = new HttpClient({ ...server, ...server.client, protocol });
  try {
    await client.post('/api/v1/nodes', { metadata: { name: 'node' } });
    const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } };
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints };
    await client.patch('/api/v1/nodes/node/status', { status });
    const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] };
    expect((await client.post(`${namespace}/pods`, { metadata: { name: 'pod' }, spec })).code).toBe(201);
    const atKubelet: Promise<unknown>[] = [];
    kubelet.handler = (_request, response) => {
      atKubelet.push(once(response, 'close'));
      response.write('line\n');
    };
    kubelet.upgraded = (request, socket: Duplex) => {
      atKubelet.push(once(socket, 'close'));
      const { upgrade, 'sec-websocket-key': key } = request.headers;
      expect([upgrade, key !== undefined]).toEqual(['websocket', true]);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`);
      socket.write(`sec-websocket-accept: ${acceptOf(key!)}\r\nsec-websocket-protocol: v4.channel.k8s.io\r\n\r\n`);
      socket.resume();
    };
    const log = await client.open('GET', `${namespace}/pods/pod/log?follow=true`);
    await once(log.body, 'data');
    log.body.resume();
    const url = `${server.url.replace('https', 'wss')}${namespace}/pods/pod/exec?command=sh&stdin=true`;
    const { certificate: cert, key } = server.client;
    const exec = new WebSocket(url, ['v4.channel.k8s.io'], { ca: server.ca, cert, key });
    exec.on('error', () => undefined);
    await once(exec, 'open');
    const execClosed = once(exec, 'close');
    const begun = performance.now();
    await server.stop();
    expect(performance.now() - begun).toBeLessThan(100_000);
    expect(await log.ended).toBe('cut');
    await execClosed;
    expect(atKubelet).toHaveLength(2);
    await Promise.all(atKubelet);
  } finally {
    client.close();
    await server.stop();
    kubelet.stop();
  }
});

/** The answer to the key of a WebSocket (RFC 6455, 4.2.2). */
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
