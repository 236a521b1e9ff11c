import { compareKubeVersions } from './kube-version.js';

it('orders versions by stability', () => {
  const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'bar', 'foo1', 'v01'];
  const shuffled = [
    'foo1',
    'v1',
    'v11alpha2',
    'v10',
    'v3beta1',
    'v01',
    'v12alpha1',
    'v2',
    'bar',
    'v10beta3',
    'v11beta2',
  ];
  expect(shuffled.sort((a, b) => compareKubeVersions(b, a))).toEqual(order);
  expect(compareKubeVersions('v1', 'v1')).toBe(0);
});
