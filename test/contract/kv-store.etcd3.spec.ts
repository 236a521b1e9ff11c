import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { kvStoreContract } from './kv-store.contract.js';

describeWithEtcd('etcd', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await EtcdCluster.start();
  });
  afterAll(() => cluster.stop());

  kvStoreContract(
    'etcd',
    async () => {
      let store = await cluster.openStore();
      return {
        store,
        reopen: async () => {
          await store.close();
          return (store = await cluster.openStore());
        },
      };
    },
    // etcd's default limit is 1.5 MiB per request.
    { valueBytesMax: 1_500_000, isDurable: true },
  );
});
