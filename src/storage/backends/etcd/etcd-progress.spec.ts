import { hasOrderedProgress } from './etcd-progress.js';

describe('hasOrderedProgress', () => {
  it.each([
    ['3.4.23', false],
    ['3.4.31', true],
    ['3.5.0', false],
    ['3.5.12', false],
    ['3.5.13', true],
    ['3.5.30', true],
    ['3.6.0', true],
    ['3.6.0-rc.1', true],
    ['3.10.1', true],
    ['4.0.0', true],
    ['3.3.27', false],
    ['2.3.8', false],
    ['', false],
    ['dev', false],
  ])('%s: %s', (version, want) => expect(hasOrderedProgress(version)).toBe(want));
});
