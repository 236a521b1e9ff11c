import { AuthorizationWebhookMetrics } from './authorization-webhook-metrics.js';

it('has the names and labels of kube-apiserver', () => {
  const metrics = new AuthorizationWebhookMetrics();
  metrics.called('a', 'success', 0.02);
  metrics.called('a', 'success', 3);
  metrics.called('b', 'timeout', 30);
  metrics.failedOpen('b', 'timeout');
  metrics.conditionsEvaluated('a', { isExcluded: true, hasErrors: true }, 0.002);
  metrics.conditionsEvaluated('a', { isExcluded: false, hasErrors: false }, 0.3);
  const shown = metrics.families().flatMap(({ name, samples }) =>
    Array.from(samples()).flatMap(({ labels, value, suffix = '', le }) => {
      const text = Object.entries({ ...labels, ...(le !== undefined && { le }) }).map(([key, of]) => `${key}=${of}`);
      return suffix === '_bucket' && le !== '+Inf' ? [] : [`${name}${suffix}{${text.join(',')}} ${value}`];
    }),
  );
  const condition = 'apiserver_authorization_match_condition';
  const webhook = 'apiserver_authorization_webhook';
  expect(shown).toEqual([
    `${webhook}_evaluations_total{name=a,result=success} 2`,
    `${webhook}_evaluations_total{name=b,result=timeout} 1`,
    `${webhook}_duration_seconds_bucket{name=a,result=success,le=+Inf} 2`,
    `${webhook}_duration_seconds_sum{name=a,result=success} 3.02`,
    `${webhook}_duration_seconds_count{name=a,result=success} 2`,
    `${webhook}_duration_seconds_bucket{name=b,result=timeout,le=+Inf} 1`,
    `${webhook}_duration_seconds_sum{name=b,result=timeout} 30`,
    `${webhook}_duration_seconds_count{name=b,result=timeout} 1`,
    `${webhook}_evaluations_fail_open_total{name=b,result=timeout} 1`,
    `${condition}_evaluation_errors_total{type=Webhook,name=a} 1`,
    `${condition}_exclusions_total{type=Webhook,name=a} 1`,
    `${condition}_evaluation_seconds_bucket{type=Webhook,name=a,le=+Inf} 2`,
    `${condition}_evaluation_seconds_sum{type=Webhook,name=a} 0.302`,
    `${condition}_evaluation_seconds_count{type=Webhook,name=a} 2`,
  ]);
});
