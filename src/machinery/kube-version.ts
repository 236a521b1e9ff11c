const shape = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const stages = ['alpha', 'beta', undefined];

/** Orders versions by stability: v10 > v2 > v1 > v2beta1 > v1beta2 > v1alpha1 > all others alphabetically. */
export function compareKubeVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [shape.exec(a), shape.exec(b)];
  if (!left || !right) return left ? 1 : right ? -1 : a < b ? 1 : -1;
  return (
    stages.indexOf(left[2]) - stages.indexOf(right[2]) ||
    Number(left[1]) - Number(right[1]) ||
    Number(left[3] ?? 0) - Number(right[3] ?? 0)
  );
}
