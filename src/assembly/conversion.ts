import { RegistryReader } from '../admission/registry-reader.js';
import type { ServerConfig } from '../config/server-config.js';
import { ConvertedObjects } from '../custom-kinds/conversion/converted-objects.js';
import type { ConverterDependencies } from '../custom-kinds/conversion/webhook-converter.js';
import type { InjectCall } from '../kubeconfig-client/injected-call.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { HostCredentials } from '../webhook-client/host-credentials.js';
import { ServiceAddresses } from '../webhook-client/service-addresses.js';
import { WebhookClient } from '../webhook-client/webhook-client.js';
import type { Meters } from './metrics.js';

interface ConversionSources {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly meters: Pick<Meters, 'conversions' | 'webhooks'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly injectCall: InjectCall | undefined;
}

/** A request has objects of about 1 MiB, or one object; other fields or longer names may make the answer larger. */
const answerBytesMax = 16 * 1024 * 1024;

/** Returns the dependencies of conversion webhooks, which get no credentials. */
export function makeConversion({
  config,
  registry,
  meters,
  clock,
  rng,
  injectCall,
}: ConversionSources): ConverterDependencies {
  const { naming, limits } = config;
  const clients = {
    services: new ServiceAddresses({ objects: new RegistryReader(registry), naming, clock, rng }),
    credentials: new HostCredentials(undefined, clock),
    clock,
    answerBytesMax,
    refusedCertificate: (flaw: Parameters<typeof meters.webhooks.refusedCertificate>[0]) =>
      meters.webhooks.refusedCertificate(flaw),
  };
  return {
    openClient: ({ caBundle = '', ...address }) => {
      // As in kube-apiserver, a bundle of white space is none.
      const isBlank = Buffer.from(caBundle, 'base64').toString().trim() === '';
      return new WebhookClient(isBlank ? address : { ...address, caBundle }, clients);
    },
    results: new ConvertedObjects(limits.convertedObjectsBytesMax),
    observer: meters.conversions,
    injectCall,
    group: naming.group('apiextensions'),
    clock,
    rng,
  };
}
