import { parseArgs } from 'node:util';
import { packageRoot } from '../src/config/config-files.js';
import { startKeelson } from '../src/testing.js';
import { asCommand, print } from './as-command.js';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from './kubectl/kubectl.js';
import { isMissing, kubectlSteps } from './kubectl/steps.js';

/**
 * `node dist/scripts/kubectl-smoke.js [--kubeconfig FILE]`: everyday calls of every kubectl that is found, against the
 * server of the kubeconfig, or one in memory. Creates and deletes a namespace of its own.
 */
async function main(words: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...words], options: { kubeconfig: { type: 'string' } } });
  const kubectls = findKubectls(packageRoot);
  if (kubectls.length === 0) throw new Error(`no kubectl was found: ${howToGetKubectl}`);
  const own = values.kubeconfig === undefined ? await startKeelson() : undefined;
  const kubeconfig = values.kubeconfig ?? (await own!.kubeconfigFile());
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

asCommand(import.meta.url, main);
