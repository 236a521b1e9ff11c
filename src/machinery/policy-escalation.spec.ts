import { missingRules, shownRule } from './policy-escalation.js';
import { policyRuleOf } from './policy-rule.js';

const rule = (text: string) => {
  const [verbs = [], second = [], resources, names] = text.split(' | ').map((part) => part.split(','));
  if (resources === undefined) return policyRuleOf({ verbs, nonResourceURLs: second });
  const apiGroups = second.map((group) => (group === 'core' ? '' : group));
  return policyRuleOf({ verbs, apiGroups, resources, ...(names && { resourceNames: names }) });
};

it.each<[wanted: string[], held: string[], missing: string[]]>([
  [['get | core | pods'], ['get,list | core | pods,secrets'], []],
  [['get,list | core | pods'], ['get | core | pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}']],
  [['get,list | core | pods'], ['get | core | pods', 'list | core | pods'], []],
  [['* | core | pods'], ['get,list,watch | core | pods'], ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}']],
  [['get | apps | deployments/scale'], ['get | * | */scale'], []],
  [
    ['get | apps | deployments'],
    ['get | * | */scale'],
    ['{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}'],
  ],
  [['* | * | *', 'get | /x'], ['* | * | *', '* | *'], []],
  [['get | core | pods | a'], ['get | core | pods'], []],
  [['get | core | pods'], ['get | core | pods | a'], ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}']],
  [
    ['get | core | pods | a,b'],
    ['get | core | pods | a'],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [['get | core | pods | a'], ['get | core | pods | b', 'get | core | pods | a'], []],
  [['get,list | core | pods | a'], ['get,list | core | pods | a,b'], []],
  [['get | /healthz/etcd'], ['get | /healthz/*'], []],
  [['get | *'], ['get | /healthz/*'], ['{NonResourceURLs:["*"], Verbs:["get"]}']],
])('for wanted %j, the holder of %j lacks %j', (wanted, held, missing) =>
  expect(missingRules(wanted.map(rule), held.map(rule))?.map(shownRule)).toEqual(missing),
);

describe('rules of astronomically many pieces', () => {
  const names = Array.from({ length: 50_000 }, (_, index) => `n${index}`);
  const vast = { verbs: names, apiGroups: names, resources: names, resourceNames: names, nonResourceURLs: names };

  it('are not split: the result is undefined', () =>
    expect(missingRules([vast], [rule('get | core | pods')])).toBeUndefined());
  it('are covered by an equal rule', () => expect(missingRules([vast], [vast])).toEqual([]));
  it('are not compared beyond stepsMax: the result is undefined', () => {
    const many = names.map((name) => ({ ...rule('get | core | pods'), resources: [name] }));
    const others = many.map((one) => ({ ...one, verbs: ['list'] }));
    expect(missingRules(many, others)).toBeUndefined();
  });
  it('are covered by one rule that grants everything', () =>
    expect(missingRules([vast], [{ ...rule('* | * | *'), apiGroups: ['*'], nonResourceURLs: ['*'] }])).toEqual([]));
});
