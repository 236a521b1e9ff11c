import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { defaultCacheLimits } from '../../src/cache/cache-limits.js';
import { Feed } from '../../src/cache/feed.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { StoredProtobuf } from '../../src/codec/protobuf.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { answerError } from '../../src/filters/api-error.filter.js';
import { registerRequestInfo } from '../../src/hooks/request-info.hook.js';
import { ResourceRegistry, type Served } from '../../src/registry/resource-registry.js';
import type {
  ResourceDefinition,
  VirtualResourceDefinition,
} from '../../src/registry/definition/resource-definition.js';
import { ResourceStore, type StoreDependencies } from '../../src/registry/resource-store.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>;

/** Wraps a handler as Nest would: request state before it, Status answers after it. */
export function shell(
  handler: Handler,
  addHooks: (server: FastifyInstance) => void = () => undefined,
  clock: Clock = systemClock,
): FastifyInstance {
  const server = fastify({ exposeHeadRoutes: false });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  registerRequestInfo(server, { clock, rng: systemRng });
  addHooks(server);
  server.all('*', async (request, reply) => {
    try {
      await handler(request, reply);
    } catch (error) {
      answerError(request, reply, error, silentLogger);
    }
    return reply;
  });
  return server;
}

/** A registry on an empty store; definitions are grouped by group and version. */
export function registryOf(
  definitions: readonly ResourceDefinition[],
  virtual: readonly VirtualResourceDefinition[] = [],
  priorities: Readonly<Record<string, number>> = {},
  dependencies: Partial<StoreDependencies> = {},
): ResourceRegistry {
  const clock = systemClock;
  const kv = new MemoryStore();
  const feed = new Feed({ store: kv, root: '/registry/', clock, logger: silentLogger, limits: defaultCacheLimits });
  const limits = {
    writersWaitingMax: 100,
    writeTurnMsMax: 1000,
    freshnessTimeoutMs: 1000,
    generateNameRetriesMax: 3,
    jsonPatchOperationsMax: 10_000,
    requestValuesMax: 50_000,
    historyPageItems: 100,
  };
  const naming = namingProfile('kubernetes');
  const types = new Catalog(naming);
  const stored = { types, protobuf: new StoredProtobuf(() => types), storageMediaType: 'json' } as const;
  const parts = { ...stored, naming, kv, feed, root: '/registry/', clock, rng: systemRng, limits, ...dependencies };
  const registry = new ResourceRegistry();
  const keys = [...definitions, ...virtual].map(({ group, version }) => `${group}/${version}`);
  for (const key of new Set(keys)) {
    const [group = '', version = ''] = key.split('/');
    const here = (definition: { group: string; version: string }) =>
      definition.group === group && definition.version === version;
    const resources: Served[] = [
      ...definitions.filter(here).map((definition): Served => ({
        type: 'stored',
        definition,
        struct: types.kind(group, version, definition.kind),
        store: new ResourceStore(definition, parts),
        handlers: new Map(),
      })),
      ...virtual.filter(here).map((definition): Served => ({
        type: 'virtual',
        definition,
        handle: () => Promise.reject(new Error('not called')),
      })),
    ];
    registry.addVersion({
      group,
      version,
      groupPriority: priorities[group] ?? 0,
      versionPriority: priorities[key] ?? 0,
      resources,
    });
  }
  return registry;
}
