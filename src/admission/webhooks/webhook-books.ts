import type { GroupResource } from '../../machinery/gvk.js';
import type { Served } from '../../registry/resource-registry.js';
import type { AdmissionOperation } from '../admission-operation.js';
import type { UnchangedUpdate } from '../admission-plugin.js';
import type { ManifestPlugin } from '../configuration/manifest-directory.configuration.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import type { CompiledWebhook } from './compiled-webhook.js';
import { exemptFromWebhooks } from './exempt-configurations.js';
import { WebhookBook } from './webhook-book.js';
import type { WebhookType } from './webhook-dependencies.js';

const pluginOf: Readonly<Record<WebhookType, ManifestPlugin>> = {
  admit: 'MutatingAdmissionWebhook',
  validating: 'ValidatingAdmissionWebhook',
};

const none: readonly CompiledWebhook[] = [];

/**
 * The webhooks of stored configurations, after those of manifests. Only those of manifests are called for webhook
 * configurations and policies, since requests cannot change manifests, and so cannot make themselves impossible.
 */
export class WebhookBooks {
  private readonly stored: WebhookBook;
  private readonly ofManifests: WebhookBook | undefined;
  private readonly isExempt: (resource: GroupResource) => boolean;

  constructor(dependencies: PluginDependencies, type: WebhookType) {
    this.stored = new WebhookBook(dependencies, type);
    const policyObjects = dependencies.manifests.objectsOf(pluginOf[type]);
    this.ofManifests = policyObjects && new WebhookBook({ ...dependencies, policyObjects }, type);
    this.isExempt = exemptFromWebhooks(dependencies.naming);
  }

  /** Resolves when changed configurations are compiled; undefined if none is being compiled. */
  whenCurrent(): Promise<void> | undefined {
    const stored = this.stored.whenCurrent();
    const ofManifests = this.ofManifests?.whenCurrent();
    return stored && ofManifests ? stored.then(() => ofManifests) : (stored ?? ofManifests);
  }

  /** True if a webhook may select the update, or while a changed configuration is being compiled. */
  maySelect({ served, operation, resource }: UnchangedUpdate): boolean {
    if (!served) return false;
    return this.whenCurrent() !== undefined || this.webhooksFor(served, operation, resource).length > 0;
  }

  /** Returns the webhooks of whose rules one may select the resource or one of its subresources, in any version. */
  webhooksFor(served: Served, operation: AdmissionOperation, resource: GroupResource): readonly CompiledWebhook[] {
    const stored = this.stored.isEmpty ? none : this.stored.webhooksFor(served, operation);
    const called = stored.length === 0 || this.isExempt(resource) ? none : stored;
    if (!this.ofManifests || this.ofManifests.isEmpty) return called;
    const first = this.ofManifests.webhooksFor(served, operation);
    return called.length === 0 ? first : first.length === 0 ? called : [...first, ...called];
  }
}
