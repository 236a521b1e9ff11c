import Sequencer from '@jest/test-sequencer';

/** Specs that take more than a minute. Without times of an earlier run, Jest begins with the largest files. */
const slow =
  /\/(conformance\.(memory|etcd|embedded)|envtest|worst-cases|restarts|kubectl|simulation|crash|service-race)\.spec\.ts$/;

/** Begins with the slow specs, so that no worker runs one while the others have nothing left. */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => slow.test(path)), ...sorted.filter(({ path }) => !slow.test(path))];
  }
}
