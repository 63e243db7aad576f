/* Native code that keeps the rules of JNI, and code that breaks them without harm. */
#include <jni.h>
#include <stddef.h>

static void critical(JNIEnv *env, jintArray array, jboolean wrong) {
    jint *elements = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    if (wrong) {
        (*env)->GetVersion(env);
    }
    (*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
}

JNIEXPORT void JNICALL Java_Outside_critical(JNIEnv *env, jclass class, jintArray array, jint times, jboolean wrong) {
    for (jint i = 0; i < times; i++) {
        (*env)->GetVersion(env);
        critical(env, array, wrong);
    }
}

/* So many frames are pushed, and so many popped; one that was never pushed gives nothing. */
JNIEXPORT void JNICALL Java_Outside_frames(JNIEnv *env, jclass class, jint pushed, jint popped) {
    for (jint i = 0; i < pushed; i++) {
        (*env)->PushLocalFrame(env, 8);
    }
    for (jint i = 0; i < popped; i++) {
        (*env)->PopLocalFrame(env, NULL);
    }
}

/* A monitor is entered so often, and left so often; an exit too much throws. */
JNIEXPORT void JNICALL Java_Outside_monitors(JNIEnv *env, jclass class, jobject of, jint entered, jint left) {
    for (jint i = 0; i < entered; i++) {
        (*env)->MonitorEnter(env, of);
    }
    for (jint i = 0; i < left; i++) {
        (*env)->MonitorExit(env, of);
        (*env)->ExceptionClear(env);
    }
}
