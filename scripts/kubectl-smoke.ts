import { packageRoot } from '../src/config/config-files.js';
import { startKeelson } from '../src/testing.js';
import { asCommand, print } from './as-command.js';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from './kubectl/kubectl.js';
import { isMissing, kubectlSteps } from './kubectl/steps.js';
import { readOptions } from './read-options.js';

const help = `node dist/scripts/kubectl-smoke.js [options]

Makes everyday calls with every kubectl that is found, in a namespace of its own. Exits with 1 if one has another outcome
than from kube-apiserver.

  --kubeconfig FILE   calls the server of this kubeconfig; the default is a server in memory
  --help              prints this help`;

async function main(words: readonly string[]): Promise<number> {
  const { kubeconfig: given } = readOptions(words, { kubeconfig: { type: 'string' } });
  const kubectls = findKubectls(packageRoot);
  if (kubectls.length === 0) throw new Error(`no kubectl was found: ${howToGetKubectl}`);
  const own = given === undefined ? await startKeelson() : undefined;
  const kubeconfig = given ?? (await own!.kubeconfigFile());
  let failures = 0;
  try {
    for (const [index, kubectl] of kubectls.entries()) {
      const runner = await KubectlRunner.open(kubectl, kubeconfig);
      const steps = kubectlSteps(`smoke-${process.pid}-${index}`);
      let failed = 0;
      let expected = 0;
      for (const step of steps) {
        const outcome = await runner.run(step);
        if (outcome.problem === undefined) continue;
        if (isMissing(step, kubectl.version)) {
          expected++;
          continue;
        }
        failed++;
        print(`  ${step.name}: ${describeOutcome(outcome).replaceAll('\n', '\n    ')}`);
      }
      await runner.close();
      failures += failed;
      print(
        `kubectl ${kubectl.version}: ${steps.length - failed - expected} steps passed, ${failed} failed, ${expected} not served yet`,
      );
    }
  } finally {
    await own?.stop();
  }
  return failures === 0 ? 0 : 1;
}

asCommand(import.meta.url, { help, run: main });
