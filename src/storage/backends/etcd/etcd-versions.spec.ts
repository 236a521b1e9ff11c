import { traitsOf } from './etcd-versions.js';

describe('traitsOf', () => {
  it.each([
    ['3.4.23', false, false],
    ['3.4.31', true, false],
    ['3.4.36', true, true],
    ['3.5.0', false, false],
    ['3.5.12', false, false],
    ['3.5.13', true, false],
    ['3.5.18', true, true],
    ['3.6.0', true, true],
    ['3.6.0-rc.1', true, true],
    ['3.10.1', true, true],
    ['4.0.0', true, true],
    ['3.3.27', false, false],
    ['2.3.8', false, false],
    ['', false, false],
    ['dev', false, false],
  ])('%s', (version, hasOrderedProgress, keepsDeletionAtFloor) =>
    expect(traitsOf(version)).toEqual({ hasOrderedProgress, keepsDeletionAtFloor }),
  );
});
