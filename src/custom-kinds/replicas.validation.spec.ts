import { texts } from '../../test/harness/strategies.js';
import { validateReplicas } from './replicas.validation.js';

it.each<[unknown, string[]]>([
  [undefined, []],
  [0, []],
  [2147483647, []],
  [-1, ['.spec.replicas: Invalid value: -1: should be a non-negative integer']],
  [2147483648, ['.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647']],
  [2n ** 53n + 1n, ['.spec.replicas: Invalid value: 9007199254740993: should be less than or equal to 2147483647']],
  [-(2n ** 63n), ['.spec.replicas: Invalid value: -9223372036854775808: should be a non-negative integer']],
  [
    1.5,
    ['.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64'],
  ],
  ['3', ['.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 3 is of the type string, expected int64']],
])('validates %p as a number of replicas', (replicas, want) =>
  expect(
    texts(
      validateReplicas(
        { kind: 'W', apiVersion: 'e/v1', metadata: { name: 'w' }, spec: { replicas } },
        '.spec.replicas',
      ),
    ),
  ).toEqual(want),
);
