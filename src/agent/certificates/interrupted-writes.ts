import { basename, dirname, resolve } from 'node:path';
import { removeInterruptedWrites } from '../../certificates/private-files.js';
import type { AgentDependencies } from '../agent-dependencies.js';

/** Files of --cert-dir that the agent writes: certificates with their keys, keys of requests, and kubelet.crt. */
const ownFile = /^kubelet(-(client|server)(-[0-9-]+\.pem|-current\.pem|\.key\.tmp)|\.(crt|key))$/;

/** Removes what an agent that was killed has left beside its certificates and its kubeconfig: it may contain keys. */
export async function removeInterruptedWritesOfAgent({
  options,
  logger,
}: Pick<AgentDependencies, 'options' | 'logger'>): Promise<void> {
  const { certDirectory, kubeconfig } = options;
  const removed = [...(await removeInterruptedWrites(resolve(certDirectory), (name) => ownFile.test(name)))];
  if (kubeconfig !== undefined) {
    const own = basename(kubeconfig);
    removed.push(...(await removeInterruptedWrites(dirname(resolve(kubeconfig)), (name) => name === own)));
  }
  for (const file of removed) logger.info('removed a temporary file of an agent that was killed', { file });
}
