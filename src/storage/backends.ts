import type { StorageBackendName } from '../config/storage-backends.js';
import { requireNever } from '../std/assert.js';
import type { BackendDefinition } from './backend-definition.js';
import { embeddedBackend } from './backends/embedded/embedded.backend.js';
import { etcdBackend } from './backends/etcd/etcd.backend.js';
import { memoryBackend } from './backends/memory/memory.backend.js';

/** Every built-in storage backend. Each imports its store when it opens it. */
export const builtInBackends = [
  embeddedBackend,
  memoryBackend,
  etcdBackend,
] as const satisfies readonly BackendDefinition<StorageBackendName>[];

// Does not compile if a backend of the list in src/config is not in this one: the error names it.
requireNever<Exclude<StorageBackendName, (typeof builtInBackends)[number]['name']>>();

/** Returns the built-in backend of the name, or that of an embedding program. */
export function backendNamed(name: string, own: readonly BackendDefinition[] = []): BackendDefinition {
  const all: readonly BackendDefinition[] = [...builtInBackends, ...own];
  const twice = own.find((one) => all.filter((other) => other.name === one.name).length > 1);
  if (twice) throw new Error(`storage backend ${twice.name} is defined twice; give one of the two another name`);
  const found = all.find((one) => one.name === name);
  if (!found) throw new Error(`storage backend ${name} is not defined; give its definition as storageBackends`);
  return found;
}
