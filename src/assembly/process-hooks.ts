import type { FastifyInstance } from 'fastify';
import type { ServerProcess } from '../workers/server-processes.js';
import type { ServerComponents } from './components.js';

/** A request for an unknown resource waits so long for this process to learn of it. */
const unknownWaitMs = 1_000;

/** Adds what requests need in a server of several processes. */
export function registerProcessHooks(
  server: FastifyInstance,
  { index }: ServerProcess,
  { registry, feed }: Pick<ServerComponents, 'registry' | 'feed'>,
): void {
  const name = index === 0 ? `store (pid ${process.pid})` : `worker ${index} (pid ${process.pid})`;
  // Profiles and dumps are of one process.
  server.addHook('onRequest', (request, reply, done) => {
    if (request.raw.url?.startsWith('/debug/')) reply.raw.setHeader('keelson-process', name);
    done();
  });
  // The CustomResourceDefinition may have been established by another process, whose client knows it already.
  server.addHook('preHandler', (request, _reply, done) => {
    const { isResourceRequest, group, version, resource } = request.kube.info;
    if (!isResourceRequest || registry.find(group, version, resource)) return done();
    const goOn = () => done();
    feed.consistentRevision({ timeoutMs: unknownWaitMs }).then(goOn, goOn);
  });
}
