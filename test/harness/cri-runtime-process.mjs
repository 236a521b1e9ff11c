// A container runtime (CRI v1): a gRPC server on a Unix socket, with the official implementation of gRPC, and an HTTP
// server for streams. usage: node cri-runtime-process.mjs SOCKET STATE.json. Reads one JSON document per line,
// {"set": {…}}, which changes its behaviour (below), and prints one with the calls so far.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const ownRequire = createRequire(import.meta.url);
const protobuf = ownRequire('protobufjs');
// The official gRPC for Node, which is a dependency of etcd3.
const grpc = createRequire(ownRequire.resolve('etcd3'))('@grpc/grpc-js');
const [socket, stateFile] = process.argv.slice(2);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/**
 * pods: [{namespace, name, uid, ip, labels, annotations, isReady, createdMs, containers: [{name, image, state, exitCode,
 * reason, attempt, startedMs, finishedMs, logDirectory, log: [[ms, 'stdout'|'stderr', 'P'|'F', text]]}]}].
 * behaviour of each method: ok, unimplemented, error, hang, garbage (bytes that are no message) or huge (10 MB).
 */
const state = { pods: [], images: [], behaviour: {}, networkReady: true, checkpointDelayMs: 0, streams: 'echo' };
Object.assign(state, JSON.parse(readFileSync(stateFile, 'utf8')));
const calls = {};
const requests = [];

const idOf = (...names) => createHash('sha256').update(names.join('/')).digest('hex');
const ns = (ms) => String(BigInt(Math.round(ms)) * 1_000_000n);
const states = { created: 0, running: 1, exited: 2, unknown: 3 };

const types = {
  VersionRequest: { version: 1 },
  VersionResponse: { version: 1, runtimeName: 2, runtimeVersion: 3, runtimeApiVersion: 4 },
  StatusRequest: { verbose: [1, 'bool'] },
  RuntimeCondition: { type: 1, status: [2, 'bool'], reason: 3, message: 4 },
  RuntimeStatus: { conditions: [1, 'RuntimeCondition', 'repeated'] },
  StatusResponse: { status: [1, 'RuntimeStatus'] },
  PodSandboxMetadata: { name: 1, uid: 2, namespace: 3, attempt: [4, 'uint32'] },
  ContainerMetadata: { name: 1, attempt: [2, 'uint32'] },
  ImageSpec: { image: 1, userSpecifiedImage: 18 },
  ListPodSandboxRequest: {},
  PodSandbox: {
    ...{ id: 1, metadata: [2, 'PodSandboxMetadata'], state: [3, 'int32'], createdAt: [4, 'int64'] },
    ...{ labels: [5, 'map'], annotations: [6, 'map'] },
  },
  ListPodSandboxResponse: { items: [1, 'PodSandbox', 'repeated'] },
  PodSandboxStatusRequest: { podSandboxId: 1 },
  PodIP: { ip: 1 },
  PodSandboxNetworkStatus: { ip: 1, additionalIps: [2, 'PodIP', 'repeated'] },
  PodSandboxStatus: {
    ...{ id: 1, metadata: [2, 'PodSandboxMetadata'], state: [3, 'int32'], createdAt: [4, 'int64'] },
    ...{ network: [5, 'PodSandboxNetworkStatus'], labels: [7, 'map'], annotations: [8, 'map'] },
  },
  PodSandboxStatusResponse: { status: [1, 'PodSandboxStatus'] },
  ListContainersRequest: {},
  Container: {
    ...{ id: 1, podSandboxId: 2, metadata: [3, 'ContainerMetadata'], image: [4, 'ImageSpec'], imageRef: 5 },
    ...{ state: [6, 'int32'], createdAt: [7, 'int64'], labels: [8, 'map'], annotations: [9, 'map'] },
  },
  ListContainersResponse: { containers: [1, 'Container', 'repeated'] },
  ContainerStatusRequest: { containerId: 1 },
  ContainerStatus: {
    ...{ id: 1, metadata: [2, 'ContainerMetadata'], state: [3, 'int32'], createdAt: [4, 'int64'] },
    ...{ startedAt: [5, 'int64'], finishedAt: [6, 'int64'], exitCode: [7, 'int32'], image: [8, 'ImageSpec'] },
    ...{ imageRef: 9, reason: 10, message: 11, labels: [12, 'map'], annotations: [13, 'map'], logPath: 15 },
    imageId: 17,
  },
  ContainerStatusResponse: { status: [1, 'ContainerStatus'] },
  UInt64Value: { value: [1, 'uint64'] },
  CpuUsage: {
    timestamp: [1, 'int64'],
    usageCoreNanoSeconds: [2, 'UInt64Value'],
    usageNanoCores: [3, 'UInt64Value'],
  },
  MemoryUsage: {
    ...{ timestamp: [1, 'int64'], workingSetBytes: [2, 'UInt64Value'], availableBytes: [3, 'UInt64Value'] },
    ...{ usageBytes: [4, 'UInt64Value'], rssBytes: [5, 'UInt64Value'] },
  },
  FilesystemUsage: { timestamp: [1, 'int64'], usedBytes: [3, 'UInt64Value'], inodesUsed: [4, 'UInt64Value'] },
  ContainerAttributes: { id: 1, metadata: [2, 'ContainerMetadata'], labels: [3, 'map'] },
  ContainerStats: {
    ...{ attributes: [1, 'ContainerAttributes'], cpu: [2, 'CpuUsage'], memory: [3, 'MemoryUsage'] },
    writableLayer: [4, 'FilesystemUsage'],
  },
  ListContainerStatsRequest: {},
  ListContainerStatsResponse: { stats: [1, 'ContainerStats', 'repeated'] },
  PodSandboxAttributes: { id: 1, metadata: [2, 'PodSandboxMetadata'], labels: [3, 'map'] },
  NetworkInterfaceUsage: { name: 1, rxBytes: [2, 'UInt64Value'], txBytes: [4, 'UInt64Value'] },
  NetworkUsage: { timestamp: [1, 'int64'], defaultInterface: [2, 'NetworkInterfaceUsage'] },
  LinuxPodSandboxStats: {
    ...{ cpu: [1, 'CpuUsage'], memory: [2, 'MemoryUsage'], network: [3, 'NetworkUsage'] },
    containers: [5, 'ContainerStats', 'repeated'],
  },
  PodSandboxStats: { attributes: [1, 'PodSandboxAttributes'], linux: [2, 'LinuxPodSandboxStats'] },
  ListPodSandboxStatsRequest: {},
  ListPodSandboxStatsResponse: { stats: [1, 'PodSandboxStats', 'repeated'] },
  CheckpointContainerRequest: { containerId: 1, location: 2, timeout: [3, 'int64'] },
  CheckpointContainerResponse: {},
  ExecRequest: {
    ...{ containerId: 1, cmd: [2, 'string', 'repeated'], tty: [3, 'bool'], stdin: [4, 'bool'] },
    ...{ stdout: [5, 'bool'], stderr: [6, 'bool'] },
  },
  ExecResponse: { url: 1 },
  ExecSyncRequest: { containerId: 1, cmd: [2, 'string', 'repeated'], timeout: [3, 'int64'] },
  ExecSyncResponse: { stdout: [1, 'bytes'], stderr: [2, 'bytes'], exitCode: [3, 'int32'] },
  AttachRequest: {
    ...{ containerId: 1, stdin: [2, 'bool'], tty: [3, 'bool'], stdout: [4, 'bool'], stderr: [5, 'bool'] },
  },
  AttachResponse: { url: 1 },
  PortForwardRequest: { podSandboxId: 1, port: [2, 'int32', 'repeated'] },
  PortForwardResponse: { url: 1 },
  ListImagesRequest: {},
  Image: { id: 1, repoTags: [2, 'string', 'repeated'], repoDigests: [3, 'string', 'repeated'], size: [4, 'uint64'] },
  ListImagesResponse: { images: [1, 'Image', 'repeated'] },
  ImageFsInfoRequest: {},
  ImageFsInfoResponse: { imageFilesystems: [1, 'FilesystemUsage', 'repeated'] },
};
const fieldOf = (given) => {
  const [id, type = 'string', rule] = [given].flat();
  return type === 'map' ? { keyType: 'string', type: 'string', id } : { id, type, ...(rule && { rule }) };
};
const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(types).map(([name, fields]) => [
      name,
      { fields: Object.fromEntries(Object.entries(fields).map(([field, given]) => [field, fieldOf(given)])) },
    ]),
  ),
});

/** Sandboxes with their containers, as the state has them now. */
const sandboxes = () =>
  state.pods.map((pod) => ({
    id: idOf(pod.namespace, pod.name, pod.uid),
    metadata: { name: pod.name, uid: pod.uid, namespace: pod.namespace, attempt: 0 },
    state: pod.isReady === false ? 1 : 0,
    createdAt: ns(pod.createdMs ?? 1_700_000_000_000),
    labels: {
      ...pod.labels,
      'io.kubernetes.pod.name': pod.name,
      'io.kubernetes.pod.namespace': pod.namespace,
      'io.kubernetes.pod.uid': pod.uid,
    },
    annotations: pod.annotations ?? {},
    pod,
  }));
const containers = () =>
  sandboxes().flatMap(({ id: podSandboxId, labels, pod }) =>
    (pod.containers ?? []).map((container) => ({
      id: idOf(podSandboxId, container.name, container.attempt ?? 0),
      podSandboxId,
      metadata: { name: container.name, attempt: container.attempt ?? 0 },
      image: { image: container.image ?? 'example.com/app:1' },
      imageRef: `example.com/app@sha256:${idOf('image')}`,
      state: states[container.state ?? 'running'],
      createdAt: ns(container.startedMs ?? 1_700_000_000_000),
      labels: { ...labels, 'io.kubernetes.container.name': container.name },
      annotations: { 'io.kubernetes.container.restartCount': String(container.attempt ?? 0) },
      container,
      logPath: container.logDirectory ? join(container.logDirectory, `${container.attempt ?? 0}.log`) : '',
    })),
  );
const required = (list, id) => {
  const found = list.find((item) => item.id === id);
  if (!found) throw Object.assign(new Error(`not found: ${id}`), { code: grpc.status.NOT_FOUND });
  return found;
};
const value = (number) => ({ value: number });
const now = () => ns(Date.now());
const cpuOf = (seconds) => ({
  ...{ timestamp: now(), usageCoreNanoSeconds: value(seconds * 1e9), usageNanoCores: value(250_000_000) },
});
const memoryOf = (bytes) => ({
  ...{
    timestamp: now(),
    workingSetBytes: value(bytes),
    usageBytes: value(bytes + 1024),
    rssBytes: value(bytes - 1024),
  },
});
const containerStats = () =>
  containers()
    .filter(({ state: one }) => one === states.running)
    .map(({ id, metadata, labels }) => ({
      attributes: { id, metadata, labels },
      cpu: cpuOf(12),
      memory: memoryOf(64 * 1024 * 1024),
      writableLayer: { timestamp: now(), usedBytes: value(4096), inodesUsed: value(3) },
    }));

/** Requests of streams by the id in their URL, until their connection comes. */
const openings = new Map();
function streamUrl(kind, { cmd, port, tty = false, stdin = false, stdout = false, stderr = false }) {
  const id = randomUUID();
  openings.set(id, { kind, command: cmd, ports: port, streams: { tty, stdin, stdout, stderr } });
  return { url: `http://127.0.0.1:${streams.address().port}/${kind}/${id}` };
}

const answers = {
  Version: () => ({ version: '0.1.0', runtimeName: 'stand-in', runtimeVersion: '1.2.3', runtimeApiVersion: 'v1' }),
  Status: () => ({
    status: {
      conditions: [
        { type: 'RuntimeReady', status: true },
        { type: 'NetworkReady', status: state.networkReady, reason: state.networkReady ? '' : 'NetworkPluginNotReady' },
      ],
    },
  }),
  ListPodSandbox: () => ({ items: sandboxes() }),
  PodSandboxStatus({ podSandboxId }) {
    const sandbox = required(sandboxes(), podSandboxId);
    return { status: { ...sandbox, network: { ip: sandbox.pod.ip ?? '' } } };
  },
  ListContainers: () => ({ containers: containers() }),
  ContainerStatus({ containerId }) {
    const found = required(containers(), containerId);
    const { startedMs = 1_700_000_000_000, finishedMs = 0, exitCode = 0, reason = '' } = found.container;
    return { status: { ...found, startedAt: ns(startedMs), finishedAt: ns(finishedMs), exitCode, reason } };
  },
  ListContainerStats: () => ({ stats: containerStats() }),
  ListPodSandboxStats: () => ({
    stats: sandboxes().map(({ id, metadata, labels }) => ({
      attributes: { id, metadata, labels },
      linux: {
        cpu: cpuOf(13),
        memory: memoryOf(65 * 1024 * 1024),
        network: { timestamp: now(), defaultInterface: { name: 'eth0', rxBytes: value(1000), txBytes: value(2000) } },
        containers: containerStats().filter(
          ({ attributes }) => attributes.labels['io.kubernetes.pod.uid'] === metadata.uid,
        ),
      },
    })),
  }),
  async CheckpointContainer({ containerId, location }) {
    const found = required(containers(), containerId);
    if (found.state !== states.running) throw new Error('the container is not running');
    await new Promise((resolve) => setTimeout(resolve, state.checkpointDelayMs));
    // As runtimes do under their own umask: the agent must not rely on it.
    writeFileSync(location, tar('config.dump', JSON.stringify({ id: containerId, name: found.metadata.name })), {
      mode: 0o644,
    });
    return {};
  },
  Exec: (request) => required(containers(), request.containerId) && streamUrl('exec', request),
  ExecSync({ containerId, cmd }) {
    required(containers(), containerId);
    return {
      stdout: Buffer.from(`ran ${cmd.join(' ')}\n`),
      stderr: Buffer.alloc(0),
      exitCode: cmd[0] === 'false' ? 1 : 0,
    };
  },
  Attach: (request) => required(containers(), request.containerId) && streamUrl('attach', request),
  PortForward: (request) => required(sandboxes(), request.podSandboxId) && streamUrl('portforward', request),
  ListImages: () => ({ images: state.images }),
  ImageFsInfo: () => ({
    imageFilesystems: [{ timestamp: now(), usedBytes: value(123_456), inodesUsed: value(12) }],
  }),
};

/** Returns a tar file with one file. */
function tar(name, text) {
  const content = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([header, content, padding, Buffer.alloc(1024)]);
}

/** Writes the log files of the containers, in the format of the CRI. */
function writeLogs() {
  for (const { logPath, container } of containers()) {
    if (logPath === '') continue;
    mkdirSync(dirname(logPath), { recursive: true });
    const lines = (container.log ?? []).map(logLine);
    writeFileSync(logPath, lines.join(''));
  }
}
const logLine = ([ms, stream, tag, text]) =>
  `${new Date(ms).toISOString().replace('Z', '123456Z')} ${stream} ${tag} ${text}\n`;

const handler = (name) => async (call, respond) => {
  calls[name] = (calls[name] ?? 0) + 1;
  requests.push({ method: name, ...call.request });
  if (requests.length > 50) requests.shift();
  switch (state.behaviour[name] ?? state.behaviour.all) {
    case 'hang':
      return;
    case 'unimplemented':
      return respond({ code: grpc.status.UNIMPLEMENTED, details: `method ${name} not implemented` });
    case 'error':
      return respond({ code: grpc.status.UNKNOWN, details: 'the runtime failed' });
    case 'garbage':
      return respond(null, createHash('sha512').update('garbage').digest());
    case 'huge':
      return respond(null, Buffer.alloc(30_000_000, 0x0a));
    default:
      try {
        return respond(null, await answers[name](call.request));
      } catch (error) {
        return respond({ code: error.code ?? grpc.status.UNKNOWN, details: error.message });
      }
  }
};

function method(name) {
  const service = name === 'ListImages' || name === 'ImageFsInfo' ? 'ImageService' : 'RuntimeService';
  const codec = root.lookupType(`${name}Response`);
  return {
    path: `/runtime.v1.${service}/${name}`,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (bytes) => root.lookupType(`${name}Request`).decode(bytes).toJSON(),
    responseSerialize: (message) =>
      Buffer.isBuffer(message) ? message : Buffer.from(codec.encode(codec.fromObject(message)).finish()),
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  };
}

/**
 * Streams. `echo`: an upgraded connection returns what it gets, after a greeting. `run`: exec, attach and port-forward to
 * this machine, which needs the built sources. Other requests are refused.
 */
const streams = createServer((_request, response) => {
  response.writeHead(400);
  response.end('an upgrade is required');
});
streams.on('upgrade', async (request, connection, head) => {
  requests.push({ method: 'stream', url: request.url, upgrade: request.headers.upgrade });
  connection.on('error', () => connection.destroy());
  if (state.streams === 'drop') return connection.destroy();
  if (state.streams === 'refuse') return connection.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  if (state.streams === 'run') {
    const id = request.url.split('/').at(-1);
    const opening = openings.get(id) ?? {};
    openings.delete(id);
    const { serveLocally } = await import('./streaming/local-streams.mjs');
    return serveLocally(opening, { request, socket: connection, head });
  }
  connection.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n` +
      `X-Stream-Protocol-Version: ${request.headers['x-stream-protocol-version'] ?? 'v4.channel.k8s.io'}\r\n\r\nhello `,
  );
  connection.write(head);
  connection.pipe(connection);
});

const server = new grpc.Server({ 'grpc.max_send_message_length': -1 });
const names = Object.keys(answers);
server.addService(
  Object.fromEntries(names.map((name) => [name, method(name)])),
  Object.fromEntries(names.map((name) => [name, handler(name)])),
);

createInterface(process.stdin).on('line', (line) => {
  const { set, append } = JSON.parse(line);
  if (set) Object.assign(state, set);
  if (set?.pods) writeLogs();
  if (append) appendFileSync(append.file, append.lines.map(logLine).join(''));
  print({ calls, requests });
});
process.stdin.on('end', () => process.exit(0));

writeLogs();
streams.listen(0, '127.0.0.1', () => {
  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
    print({ listening: socket });
  });
});
