import { dealHand, hashOfFlow } from './shuffle-sharding.js';

// Hashes and hands of kube-apiserver's dealer.
it.each<[string, string, bigint, number, number[]]>([
  ['global-default', 'alice', 17644606172554983095n, 128, [55, 62, 126, 125, 105, 1]],
  ['service-accounts', 'system:serviceaccount:a:b', 8690863317635817527n, 128, [55, 113, 71, 36, 27, 19]],
  ['system-nodes', 'system:node:n1', 8967139723188866340n, 64, [36, 37, 40, 20, 55, 27]],
  ['kube-scheduler', '', 7297130763811322366n, 16, [14, 12, 3, 15]],
  ['x', 'ü', 3217457472718683788n, 4, [0, 3, 2, 1]],
  ['x', 'y', 8801147574478190798n, 1, [0]],
])('the flow %s/%s has its hash and its hand of queues', (schema, distinguisher, hash, queues, hand) => {
  expect(hashOfFlow(schema, distinguisher)).toBe(hash);
  expect(dealHand(hash, queues, hand.length)).toEqual(hand);
});

it('hands have different queues, and all queues are dealt', () => {
  const dealt = new Set<number>();
  for (let at = 0; at < 2000; at++) {
    const hand = dealHand(hashOfFlow('schema', `user-${at}`), 64, 6);
    expect(new Set(hand).size).toBe(6);
    for (const queue of hand) dealt.add(queue);
  }
  expect([...dealt].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, index) => index));
});
