/* The native methods of Calls, Hot and LeftOpen: every call of JNI in here is counted by the tests. */
#include <jni.h>
#include <pthread.h>
#include <stddef.h>

static jclass calls;
static jmethodID back, fail, last;

JNIEXPORT void JNICALL Java_Calls_prepare(JNIEnv *env, jclass class) {
    calls = (*env)->NewGlobalRef(env, class);
    back = (*env)->GetStaticMethodID(env, class, "back", "(I)I");
    fail = (*env)->GetStaticMethodID(env, class, "fail", "()V");
    last = (*env)->GetStaticMethodID(env, class, "last", "(J)V");
}

JNIEXPORT jint JNICALL Java_Calls_lengths(JNIEnv *env, jclass class, jintArray array, jint times) {
    jint sum = 0;
    for (jint i = 0; i < times; i++) {
        sum += (*env)->GetArrayLength(env, array);
    }
    return sum;
}

JNIEXPORT jint JNICALL Java_Calls_sum(JNIEnv *env, jclass class, jintArray array) {
    jint length = (*env)->GetArrayLength(env, array), sum = 0;
    jint *elements = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    for (jint i = 0; elements != NULL && i < length; i++) {
        sum += elements[i];
    }
    (*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
    return sum;
}

JNIEXPORT jint JNICALL Java_Calls_pair(JNIEnv *env, jclass class, jintArray outer, jbyteArray inner) {
    jint *first = (*env)->GetPrimitiveArrayCritical(env, outer, NULL);
    jbyte *second = (*env)->GetPrimitiveArrayCritical(env, inner, NULL);
    jint sum = first != NULL && second != NULL ? first[0] + second[0] : 0;
    (*env)->ReleasePrimitiveArrayCritical(env, inner, second, JNI_ABORT);
    (*env)->ReleasePrimitiveArrayCritical(env, outer, first, JNI_ABORT);
    return sum;
}

JNIEXPORT jint JNICALL Java_Calls_down(JNIEnv *env, jclass class, jint n) {
    return (*env)->CallStaticIntMethod(env, class, back, n);
}

JNIEXPORT jboolean JNICALL Java_Calls_attempt(JNIEnv *env, jclass class) {
    (*env)->CallStaticVoidMethod(env, class, fail);
    jboolean failed = (*env)->ExceptionCheck(env);
    (*env)->ExceptionClear(env);
    return failed;
}

JNIEXPORT void JNICALL Java_Calls_slow(JNIEnv *env, jclass class, jlong ns) {
    jvalue argument = {.j = ns};
    (*env)->CallStaticVoidMethodA(env, class, last, &argument);
}

struct attachment {
    JavaVM *vm;
    jint times;
    jint sum;
};

/* Called by no Java method: what calls JNI here is this function. */
__attribute__((noinline)) void *native_thread(void *argument) {
    struct attachment *attachment = argument;
    JNIEnv *env;
    if ((*attachment->vm)->AttachCurrentThread(attachment->vm, (void **)&env, NULL) != JNI_OK) {
        return NULL;
    }
    for (jint i = 0; i < attachment->times; i++) {
        attachment->sum += (*env)->GetVersion(env);
    }
    attachment->sum += (*env)->CallStaticIntMethod(env, calls, back, 0);
    attachment->sum += (*attachment->vm)->DetachCurrentThread(attachment->vm);
    return NULL;
}

JNIEXPORT void JNICALL Java_Calls_attached(JNIEnv *env, jclass class, jint times) {
    struct attachment attachment = {.times = times};
    pthread_t thread;
    (*env)->GetJavaVM(env, &attachment.vm);
    if (pthread_create(&thread, NULL, native_thread, &attachment) == 0) {
        pthread_join(thread, NULL);
    }
}

JNIEXPORT void JNICALL Java_LeftOpen_hold(JNIEnv *env, jclass class, jstring text) {
    const jchar *chars = (*env)->GetStringCritical(env, text, NULL);
    (void)chars;
}

JNIEXPORT void JNICALL Java_Hot_run(JNIEnv *env, jclass class, jint portions) {
    jmethodID portion = (*env)->GetStaticMethodID(env, class, "portion", "()V");
    for (jint i = 0; i < portions; i++) {
        (*env)->CallStaticVoidMethod(env, class, portion);
    }
}
