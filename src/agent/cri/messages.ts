import { bytes, flag, many, message, one, text, textMap, texts, whole, wholes, type Decoded } from './message.js';

/*
 * Messages of CRI v1 (runtime.v1.RuntimeService and ImageService) that the agent uses, by the field numbers of
 * k8s.io/cri-api v0.36. Unknown fields are skipped. Times are nanoseconds since 1970.
 */

const sandboxMetadata = message({ name: text(1), uid: text(2), namespace: text(3), attempt: whole(4) });
const containerMetadata = message({ name: text(1), attempt: whole(2) });
const imageSpec = message({ image: text(1), userSpecifiedImage: text(18) });

export const sandboxStates = { ready: 0, notReady: 1 } as const;
export const containerStates = { created: 0, running: 1, exited: 2, unknown: 3 } as const;

const sandbox = message({
  id: text(1),
  metadata: one(2, sandboxMetadata),
  state: whole(3),
  createdAt: whole(4),
  labels: textMap(5),
  annotations: textMap(6),
});
export type Sandbox = Decoded<typeof sandbox>;

const container = message({
  id: text(1),
  podSandboxId: text(2),
  metadata: one(3, containerMetadata),
  image: one(4, imageSpec),
  imageRef: text(5),
  state: whole(6),
  createdAt: whole(7),
  labels: textMap(8),
  annotations: textMap(9),
});
export type Container = Decoded<typeof container>;

const mount = message({ containerPath: text(1), hostPath: text(2), isReadOnly: flag(3) });

const containerStatus = message({
  id: text(1),
  metadata: one(2, containerMetadata),
  state: whole(3),
  createdAt: whole(4),
  startedAt: whole(5),
  finishedAt: whole(6),
  exitCode: whole(7),
  image: one(8, imageSpec),
  imageRef: text(9),
  reason: text(10),
  message: text(11),
  labels: textMap(12),
  annotations: textMap(13),
  mounts: many(14, mount),
  logPath: text(15),
  imageId: text(17),
});
export type ContainerStatus = Decoded<typeof containerStatus>;

const podIp = message({ ip: text(1) });
const sandboxStatus = message({
  id: text(1),
  metadata: one(2, sandboxMetadata),
  state: whole(3),
  createdAt: whole(4),
  network: one(5, message({ ip: text(1), additionalIps: many(2, podIp) })),
  labels: textMap(7),
  annotations: textMap(8),
});
export type SandboxStatus = Decoded<typeof sandboxStatus>;

const condition = message({ type: text(1), status: flag(2), reason: text(3), message: text(4) });

const uint64 = message({ value: whole(1) });
const cpu = message({ timestamp: whole(1), usageCoreNanoSeconds: one(2, uint64), usageNanoCores: one(3, uint64) });
const memory = message({
  timestamp: whole(1),
  workingSetBytes: one(2, uint64),
  availableBytes: one(3, uint64),
  usageBytes: one(4, uint64),
  rssBytes: one(5, uint64),
  pageFaults: one(6, uint64),
  majorPageFaults: one(7, uint64),
});
const filesystem = message({
  timestamp: whole(1),
  fsId: one(2, message({ mountpoint: text(1) })),
  usedBytes: one(3, uint64),
  inodesUsed: one(4, uint64),
});
const swap = message({ timestamp: whole(1), availableBytes: one(2, uint64), usageBytes: one(3, uint64) });
export type CpuUsage = Decoded<typeof cpu>;
export type MemoryUsage = Decoded<typeof memory>;
export type FilesystemUsage = Decoded<typeof filesystem>;

const containerStats = message({
  attributes: one(1, message({ id: text(1), metadata: one(2, containerMetadata), labels: textMap(3) })),
  cpu: one(2, cpu),
  memory: one(3, memory),
  writableLayer: one(4, filesystem),
  swap: one(5, swap),
});
export type ContainerStats = Decoded<typeof containerStats>;

const networkInterface = message({
  name: text(1),
  rxBytes: one(2, uint64),
  rxErrors: one(3, uint64),
  txBytes: one(4, uint64),
  txErrors: one(5, uint64),
});
export type NetworkInterface = Decoded<typeof networkInterface>;

const sandboxStats = message({
  attributes: one(1, message({ id: text(1), metadata: one(2, sandboxMetadata), labels: textMap(3) })),
  linux: one(
    2,
    message({
      cpu: one(1, cpu),
      memory: one(2, memory),
      network: one(
        3,
        message({
          timestamp: whole(1),
          defaultInterface: one(2, networkInterface),
          interfaces: many(3, networkInterface),
        }),
      ),
      process: one(4, message({ timestamp: whole(1), processCount: one(2, uint64) })),
      containers: many(5, containerStats),
    }),
  ),
});
export type SandboxStats = Decoded<typeof sandboxStats>;

const image = message({ id: text(1), repoTags: texts(2), repoDigests: texts(3), size: whole(4) });

const empty = message({});

/** Requests and responses by method. */
export const methods = {
  Version: {
    request: message({ version: text(1) }),
    response: message({ runtimeName: text(2), runtimeVersion: text(3), runtimeApiVersion: text(4) }),
  },
  Status: {
    request: message({ isVerbose: flag(1) }),
    response: message({ status: one(1, message({ conditions: many(1, condition) })), info: textMap(2) }),
  },
  ListPodSandbox: { request: empty, response: message({ items: many(1, sandbox) }) },
  PodSandboxStatus: {
    request: message({ podSandboxId: text(1) }),
    response: message({ status: one(1, sandboxStatus) }),
  },
  ListContainers: { request: empty, response: message({ containers: many(1, container) }) },
  ContainerStatus: {
    request: message({ containerId: text(1) }),
    response: message({ status: one(1, containerStatus) }),
  },
  ListContainerStats: { request: empty, response: message({ stats: many(1, containerStats) }) },
  ListPodSandboxStats: { request: empty, response: message({ stats: many(1, sandboxStats) }) },
  /** `timeout` is in seconds; 0 is the default of the runtime. */
  CheckpointContainer: {
    request: message({ containerId: text(1), location: text(2), timeout: whole(3) }),
    response: empty,
  },
  Exec: {
    request: message({
      containerId: text(1),
      cmd: texts(2),
      tty: flag(3),
      stdin: flag(4),
      stdout: flag(5),
      stderr: flag(6),
    }),
    response: message({ url: text(1) }),
  },
  ExecSync: {
    request: message({ containerId: text(1), cmd: texts(2), timeout: whole(3) }),
    response: message({ stdout: bytes(1), stderr: bytes(2), exitCode: whole(3) }),
  },
  Attach: {
    request: message({ containerId: text(1), stdin: flag(2), tty: flag(3), stdout: flag(4), stderr: flag(5) }),
    response: message({ url: text(1) }),
  },
  PortForward: { request: message({ podSandboxId: text(1), port: wholes(2) }), response: message({ url: text(1) }) },
  ListImages: { request: empty, response: message({ images: many(1, image) }) },
  ImageFsInfo: { request: empty, response: message({ imageFilesystems: many(1, filesystem) }) },
} as const;

export type Method = keyof typeof methods;
export type RequestOf<M extends Method> = Partial<Decoded<(typeof methods)[M]['request']>>;
export type ResponseOf<M extends Method> = Decoded<(typeof methods)[M]['response']>;

const imageMethods: ReadonlySet<Method> = new Set(['ListImages', 'ImageFsInfo']);
export const isImageMethod = (method: Method): boolean => imageMethods.has(method);
export const pathOf = (method: Method): string =>
  `/runtime.v1.${isImageMethod(method) ? 'ImageService' : 'RuntimeService'}/${method}`;
