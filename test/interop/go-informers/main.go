// Informers of client-go against a server that is stopped and started again and again.
//
// usage: go-informers KUBECONFIG NAMESPACE
//
// Every informer keeps its store up to date by list and watch, with client-go's own reconnection. For each line on
// stdin, `NAME VALUE`, the program waits until every informer has seen the ConfigMap NAME with data.value VALUE, or the
// deadline passes, and prints one line: `ok MILLISECONDS` or `late KIND,KIND`. All informers share one transport, so
// one HTTP/2 connection, as those of a controller do.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// Above twice the 30 seconds that client-go's reflector waits at most after failures in a row.
const deadline = 120 * time.Second

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	config.QPS, config.Burst = 100, 200
	client := kubernetes.NewForConfigOrDie(config)
	namespace := os.Args[2]

	// Several factories, so several watches of the same objects, beside those of other kinds.
	stop := make(chan struct{})
	var stores []cache.Store
	var synced []cache.InformerSynced
	for i := 0; i < 4; i++ {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		configMaps := factory.Core().V1().ConfigMaps().Informer()
		all := []cache.SharedIndexInformer{
			configMaps,
			factory.Core().V1().Secrets().Informer(),
			factory.Core().V1().Pods().Informer(),
			factory.Core().V1().Services().Informer(),
			factory.Apps().V1().Deployments().Informer(),
			factory.Batch().V1().Jobs().Informer(),
		}
		for _, informer := range all {
			synced = append(synced, informer.HasSynced)
		}
		stores = append(stores, configMaps.GetStore())
		factory.Start(stop)
	}
	if !cache.WaitForCacheSync(stop, synced...) {
		panic("the informers did not sync")
	}
	fmt.Println("ready", len(synced))

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		fmt.Println(await(stores, namespace+"/"+name, value))
	}
}

// await returns when all stores hold the value under the key.
func await(stores []cache.Store, key, value string) string {
	begin := time.Now()
	for {
		var late []string
		for i, store := range stores {
			item, found, _ := store.GetByKey(key)
			if !found || item.(*corev1.ConfigMap).Data["value"] != value {
				late = append(late, fmt.Sprint(i))
			}
		}
		if len(late) == 0 {
			return fmt.Sprintf("ok %d", time.Since(begin).Milliseconds())
		}
		if time.Since(begin) > deadline {
			return "late " + strings.Join(late, ",")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
