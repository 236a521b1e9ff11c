import { asCommand, print } from './as-command.js';
import { namesIn, numberIn, readOptions } from './read-options.js';
import { runBesideControllers } from './upstream/beside-controllers.js';
import { Checks } from './upstream/checks.js';
import { Cluster } from './upstream/cluster.js';
import { runSharedEtcd } from './upstream/shared-etcd.js';
import { ensurePrograms, howToGetPrograms, kubernetesVersionDefault } from './upstream/programs.js';

const parts = ['shared', 'controllers', 'baseline'] as const;

const help = `npm run upstream -- [options]
node dist/scripts/run-upstream.js [options]

Tests the built server with the programs of Kubernetes, which are built with Go into .cache/upstream; without Go nothing
is run. Exits with 1 if a check failed.

  --only PART,…               shared: kube-apiserver beside Keelson on one etcd; controllers: kube-controller-manager and
                              kube-scheduler on Keelson; baseline: the same on kube-apiserver, for comparison. The default
                              is shared,controllers
  --minutes N                 repeats the work for the controllers for this time; once by default
  --quiet-minutes N           time without changes, in which the writes of the controllers are counted; 5 by default
  --kubernetes VERSION        version of the programs; ${kubernetesVersionDefault} by default
  --storage-media-type TYPE   how kube-apiserver stores objects in the part "shared"; application/json by default
  --directory DIRECTORY       keeps the logs of all programs
  --help                      prints this help`;

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    only: { type: 'string', default: 'shared,controllers' },
    minutes: { type: 'string', default: '0' },
    'quiet-minutes': { type: 'string', default: '5' },
    kubernetes: { type: 'string', default: kubernetesVersionDefault },
    'storage-media-type': { type: 'string', default: 'application/json' },
    directory: { type: 'string' },
  });
  const chosen = namesIn('only', values.only, parts);
  const timing = {
    minutes: numberIn('minutes', values.minutes),
    quietMinutes: numberIn('quiet-minutes', values['quiet-minutes']),
  };
  const programs = await ensurePrograms(values.kubernetes, print);
  if (programs === undefined) {
    print(`NOT RUN: the upstream programs are not there and Go is not on PATH: ${howToGetPrograms}`);
    return 1;
  }
  const checks = new Checks(print);
  for (const part of chosen) {
    print(`--- ${part}: Kubernetes ${values.kubernetes}`);
    const cluster = await Cluster.make(programs, values.directory && `${values.directory}/${part}`);
    try {
      await cluster.startEtcd();
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

asCommand(import.meta.url, { help, run: main, showsStack: true });
