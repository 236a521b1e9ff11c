import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { HttpClient } from './http-client.js';
import { until } from './until.js';
import { webhookCertificate } from './webhook-certificate.js';

export const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** The common name of the client certificate; undefined without a valid one. */
  readonly clientName: string | undefined;
  readonly body: string;
}

type Handler = (request: ReceivedRequest, response: ServerResponse, raw: IncomingMessage) => void;

interface ServedGroup {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly object[];
}

type Certificate = Awaited<ReturnType<typeof webhookCertificate>>;

/** An HTTPS server behind a Service of the type ExternalName, with discovery of one group and version. */
export class AggregatedServer {
  readonly received: ReceivedRequest[] = [];
  /** By path without query; the path of a tree ends with "/". */
  readonly handlers = new Map<string, Handler>();
  private server: https.Server | undefined;
  private readonly sockets = new Set<Socket>();
  port = 0;

  private constructor(
    private readonly served: ServedGroup,
    readonly certificate: Certificate,
    private readonly clientCa: string | undefined,
    private readonly address: string,
  ) {
    const { group, version, resources } = served;
    this.answers(`/apis/${group}/${version}`, {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${group}/${version}`,
      resources,
    });
  }

  get name(): string {
    return `${this.served.version}.${this.served.group}`;
  }

  get path(): string {
    return `/apis/${this.served.group}/${this.served.version}`;
  }

  static async start(
    served: ServedGroup,
    { clientCa, address = 'localhost' }: { readonly clientCa?: string; readonly address?: string } = {},
  ): Promise<AggregatedServer> {
    const certificate = await webhookCertificate({ hash: 'SHA-256', names: ['api.default.svc'] });
    const server = new AggregatedServer(served, certificate, clientCa, address);
    await server.listen();
    return server;
  }

  /** Listens, after stop() at the same port. */
  async listen(): Promise<void> {
    const { certificate: cert, key } = this.certificate;
    const { clientCa: ca } = this;
    const tls = { cert, key, ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: false }) };
    const server = https.createServer(tls, (request, response) => this.receive(request, response));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      const { method = '', url = '', headers } = request;
      this.received.push({ method, url, headers, clientName: undefined, body: '' });
      socket.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.listen(this.port, this.address);
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(server, 'close');
  }

  answers(path: string, body: object, headers: Readonly<Record<string, string>> = {}): void {
    this.handlers.set(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    });
  }

  /** Creates the Service and the APIService, and waits until it is available. */
  async install(admin: HttpClient, spec: object = {}, waits = true): Promise<void> {
    const external = { metadata: { name: 'api' }, spec: { type: 'ExternalName', externalName: 'localhost' } };
    const created = await admin.post('/api/v1/namespaces/default/services', external);
    expect([201, 409]).toContain(created.code);
    const { code, text } = await admin.post(apiServices, this.apiService(spec));
    if (code !== 201) throw new Error(text);
    if (waits) await this.availability(admin, 'True');
  }

  apiService(spec: object = {}) {
    const { group, version } = this.served;
    const caBundle = Buffer.from(this.certificate.ca).toString('base64');
    return {
      metadata: { name: this.name },
      spec: {
        ...{ group, version, groupPriorityMinimum: 1000, versionPriority: 15, caBundle },
        service: { namespace: 'default', name: 'api', port: this.port },
        ...spec,
      },
    };
  }

  /** Waits until the condition Available has a status, and the reason if one is given. Returns the condition. */
  async availability(admin: HttpClient, status: string, reason?: string): Promise<Record<string, string>> {
    const found = await until(admin, apiServices, this.name, (object) => {
      const condition = availableOf(object);
      return condition?.['status'] === status && (reason === undefined || condition['reason'] === reason);
    });
    return availableOf(found)!;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const socket = request.socket as TLSSocket;
      const subject = socket.authorized ? socket.getPeerCertificate().subject : undefined;
      const clientName = subject === undefined ? undefined : String(subject.CN);
      const received = { method, url, headers, clientName, body: Buffer.concat(chunks).toString() };
      this.received.push(received);
      const path = url.replace(/\?.*$/s, '');
      const tree = [...this.handlers.keys()].find((each) => each.endsWith('/') && path.startsWith(each));
      const handler = this.handlers.get(path) ?? (tree === undefined ? undefined : this.handlers.get(tree));
      if (handler) return handler(received, response, request);
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found\n');
    });
  }
}

function availableOf(object: object | undefined): Record<string, string> | undefined {
  const { status } = (object ?? {}) as { status?: { conditions?: Record<string, string>[] } };
  return status?.conditions?.find(({ type }) => type === 'Available');
}
