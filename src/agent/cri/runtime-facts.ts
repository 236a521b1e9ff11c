import type { RuntimeInformation } from '../node/runtime-information.js';
import type { ContainerRuntime } from './container-runtime.js';

/** A runtime that hangs must not delay the status of the Node for the whole --runtime-request-timeout. */
const statusMsMax = 5_000;
const imagesMsMax = 10_000;
/** The conditions of CRI that must be true, with the beginnings of the kubelet's messages. */
const required: readonly (readonly [type: string, subject: string])[] = [
  ['RuntimeReady', 'container runtime not ready'],
  ['NetworkReady', 'container runtime network not ready'],
];

/** Returns what the status of the Node shows of the container runtime. */
export function runtimeFacts(runtime: ContainerRuntime): RuntimeInformation {
  return {
    async status(signal) {
      const [version, { status }] = await Promise.all([
        runtime.call('Version', {}, { timeoutMs: statusMsMax, signal }),
        runtime.call('Status', {}, { timeoutMs: statusMsMax, signal }),
      ]);
      const problems = required.flatMap(([type, subject]) => {
        const condition = status?.conditions.find((candidate) => candidate.type === type);
        if (condition?.status === true) return [];
        const { reason = '', message = '' } = condition ?? {};
        return [`${subject}: ${type}=false reason:${reason} message:${message}`];
      });
      return { name: version.runtimeName, version: version.runtimeVersion, problems };
    },
    async images(signal) {
      const { images } = await runtime.call('ListImages', {}, { timeoutMs: imagesMsMax, signal });
      return [...images]
        .sort((a, b) => b.size - a.size)
        .map(({ repoTags, repoDigests, size }) => ({ names: [...repoDigests, ...repoTags], sizeBytes: size }));
    },
  };
}
