import type { Answer } from './admission-webhook.js';
import type { Answer as HttpAnswer } from './http-client.js';
import type { WebhookWorld } from './webhook-world.js';

export const configMaps = '/api/v1/namespaces/default/configmaps';

export const messageOf = ({ body }: HttpAnswer) => (body as { readonly message?: string }).message;
export const dataOf = ({ body }: HttpAnswer) => (body as { readonly data?: Record<string, string> }).data;

export type WebhookRequests = ReturnType<typeof webhookRequests>;

/** Returns functions that install webhooks for ConfigMaps with certain labels, and that create such ConfigMaps. */
export function webhookRequests({ admin, webhooks, installer }: WebhookWorld) {
  let objects = 0;
  const newName = () => `o${objects++}`;
  return {
    newName,
    post: (labels: object, fields: object = {}, query = '') =>
      admin.post(`${configMaps}${query}`, { metadata: { name: newName(), labels }, ...fields }),
    async validating(fields: object, answer?: Answer) {
      const installed = await installer.install('validating', [fields]);
      const [path = ''] = installed.paths;
      if (answer) webhooks.on(path, answer);
      return { ...installed, path, reviews: () => webhooks.reviews(path) };
    },
    async mutating(given: readonly { readonly [field: string]: unknown; readonly answer?: Answer }[], prefix?: string) {
      const installed = await installer.install(
        'mutating',
        given.map(({ answer: _answer, ...fields }) => fields),
        prefix,
      );
      given.forEach(({ answer }, index) => answer && webhooks.on(installed.paths[index]!, answer));
      return installed;
    },
  };
}
