import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { conformanceSuite } from './suite.js';

describeWithEtcd('conformance on etcd', () => {
  let etcd: EtcdCluster;
  beforeAll(async () => void (etcd = await EtcdCluster.start()));
  afterAll(() => etcd.stop());

  conformanceSuite({
    store: 'etcd',
    naming: 'kubernetes',
    protocol: 'http/1.1',
    rows: 'store',
    options: () => ({ etcd }),
  });
  conformanceSuite({ store: 'etcd', naming: 'svc', protocol: 'h2', rows: 'few', options: () => ({ etcd }) });
});
