import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import { isMissing, kubectlSteps } from '../../scripts/kubectl/steps.js';
import { packageRoot } from '../../src/config/config-files.js';
import { startKeelson, type Keelson } from '../../src/testing.js';

const kubectls = findKubectls(packageRoot);

if (kubectls.length === 0) {
  process.stderr.write(`skipped: kubectl: ${howToGetKubectl}\n`);
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('is not installed', () => undefined));
} else {
  let keelson: Keelson;
  beforeAll(async () => (keelson = await startKeelson()));
  afterAll(() => keelson.stop());

  describe.each(kubectls.map((kubectl, index) => ({ ...kubectl, index })))(
    'kubectl $version',
    ({ index, ...kubectl }) => {
      let runner: KubectlRunner;
      beforeAll(async () => (runner = await KubectlRunner.open(kubectl, await keelson.kubeconfigFile())));
      afterAll(() => runner.close());

      for (const step of kubectlSteps(`interop-${index}`)) {
        // A step that starts to pass must lose its mark.
        const test = isMissing(step, kubectl.version) ? it.failing : it;
        test(`${step.name}: ${step.args.join(' ')}`, async () => {
          const outcome = await runner.run(step);
          expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
        });
      }
    },
  );
}
