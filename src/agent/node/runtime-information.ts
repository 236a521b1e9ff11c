import type { ContainerImage, NodeFeatures, NodeRuntimeHandler } from '../../catalog/types/core.v1.js';

/** The container runtime, as it appears in the status of the Node. */
export interface RuntimeInformation {
  /** Rejects if the runtime cannot be reached. */
  status(signal: AbortSignal): Promise<RuntimeStatus>;
  /** The images on this machine, the largest first. */
  images(signal: AbortSignal): Promise<readonly ContainerImage[]>;
}

export interface RuntimeStatus {
  /** `containerd` */
  readonly name: string;
  /** `2.0.1` */
  readonly version: string;
  /** Messages of the conditions that are not met, such as the network plug-in; none if Pods can run. */
  readonly problems: readonly string[];
  readonly handlers?: readonly NodeRuntimeHandler[];
  readonly features?: NodeFeatures;
}

/** Stands for a runtime that is not configured: Pods cannot run on this Node. */
export const noRuntime: RuntimeInformation = {
  status: () => Promise.reject(new Error('--container-runtime-endpoint is none')),
  images: () => Promise.resolve([]),
};
