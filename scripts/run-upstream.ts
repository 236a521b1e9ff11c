import { parseArgs } from 'node:util';
import { asCommand, print } from './as-command.js';
import { runBesideControllers } from './upstream/beside-controllers.js';
import { Checks } from './upstream/checks.js';
import { Cluster } from './upstream/cluster.js';
import { runSharedEtcd } from './upstream/shared-etcd.js';
import { ensurePrograms, howToGetPrograms, kubernetesVersionDefault } from './upstream/programs.js';

/**
 * `npm run upstream -- [--only controllers|baseline|shared] [--minutes N] [--quiet-minutes N] [--kubernetes 1.36.3]
 * [--storage-media-type application/json] [--directory DIR]`: tests the built server with the real upstream programs.
 * `controllers` runs kube-controller-manager and kube-scheduler on Keelson, `baseline` the same on kube-apiserver for
 * comparison, and `shared` runs kube-apiserver beside Keelson on one etcd. Exits with 1 if a check failed. The programs
 * are built with Go into `.cache/upstream`; without Go nothing is run.
 */
const parts = ['shared', 'controllers', 'baseline'] as const;
type Part = (typeof parts)[number];

async function main(words: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string', default: 'shared,controllers' },
      minutes: { type: 'string', default: '0' },
      'quiet-minutes': { type: 'string', default: '5' },
      kubernetes: { type: 'string', default: kubernetesVersionDefault },
      'storage-media-type': { type: 'string', default: 'application/json' },
      directory: { type: 'string' },
    },
  });
  const chosen = values.only.split(',');
  const unknown = chosen.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`--only takes no "${unknown}": use one of ${parts.join(', ')}`);
  const programs = await ensurePrograms(values.kubernetes, print);
  if (programs === undefined) {
    print(`NOT RUN: the upstream programs are not there and Go is not on PATH: ${howToGetPrograms}`);
    return 1;
  }
  const checks = new Checks(print);
  for (const part of chosen as Part[]) {
    print(`--- ${part}: Kubernetes ${values.kubernetes}`);
    const cluster = await Cluster.make(programs, values.directory && `${values.directory}/${part}`);
    try {
      await cluster.startEtcd();
      const timing = { minutes: Number(values.minutes), quietMinutes: Number(values['quiet-minutes']) };
      const server = part === 'baseline' ? 'kube-apiserver' : 'keelson';
      if (part === 'shared')
        await runSharedEtcd({ cluster, checks, say: print, storageMediaType: values['storage-media-type'] });
      else await runBesideControllers({ cluster, checks, say: print, server, ...timing });
    } finally {
      await cluster.end(values.directory !== undefined);
    }
  }
  const failed = checks.rows.filter(({ isGood }) => !isGood);
  print(`${checks.rows.length - failed.length} checks passed, ${failed.length} failed`);
  failed.forEach(({ name, detail }) => print(`  FAILED ${name}: ${detail}`));
  return failed.length === 0 ? 0 : 1;
}

asCommand(import.meta.url, main, (error) => error.stack ?? error.message);
