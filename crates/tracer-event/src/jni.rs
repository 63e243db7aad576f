//! The functions of JNI, as the notes of HotSpot 11 to 25 name them. Their numbers are part of the recording format: a new one goes to
//! the end.

/// Functions that are attached and detached together, so that those that are called most do not take the others away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    /// Calls of methods, and objects that are made.
    Calls,
    /// Critical sections.
    Critical,
    /// Arrays and direct buffers.
    Arrays,
    /// Strings.
    Strings,
    /// Fields.
    Fields,
    /// References.
    References,
    /// Classes, methods and fields by name, reflection.
    Classes,
    /// Exceptions.
    Exceptions,
    /// Threads, monitors, the JVM itself.
    Vm,
}

impl Family {
    /// Every family, in the order of the numbers.
    pub const ALL: [Self; 9] = [
        Self::Calls,
        Self::Critical,
        Self::Arrays,
        Self::Strings,
        Self::Fields,
        Self::References,
        Self::Classes,
        Self::Exceptions,
        Self::Vm,
    ];

    /// Name of its group of sites.
    pub const fn group(self) -> &'static str {
        match self {
            Self::Calls => "jni-calls",
            Self::Critical => "jni-critical",
            Self::Arrays => "jni-arrays",
            Self::Strings => "jni-strings",
            Self::Fields => "jni-fields",
            Self::References => "jni-references",
            Self::Classes => "jni-classes",
            Self::Exceptions => "jni-exceptions",
            Self::Vm => "jni-vm",
        }
    }

    /// What its events are about, for sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Calls => "JNI calls of methods",
            Self::Critical => "critical sections of JNI",
            Self::Arrays => "JNI functions of arrays",
            Self::Strings => "JNI functions of strings",
            Self::Fields => "JNI functions of fields",
            Self::References => "JNI functions of references",
            Self::Classes => "JNI functions of classes",
            Self::Exceptions => "JNI functions of exceptions",
            Self::Vm => "JNI functions of threads and the JVM",
        }
    }

    /// The family with this group of sites.
    pub fn of_group(group: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.group() == group)
    }
}

/// A function of JNI, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Function(pub u16);

impl Function {
    /// The function of this name.
    pub fn named(name: &str) -> Option<Self> {
        let index = FUNCTIONS.iter().position(|(known, _)| *known == name)?;
        u16::try_from(index).ok().map(Self)
    }

    /// Every function.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map(Self).take(FUNCTIONS.len())
    }

    /// What it is called; of one that this version does not know, that.
    pub fn name(self) -> &'static str {
        FUNCTIONS.get(usize::from(self.0)).map_or("<function of a later version>", |(name, _)| name)
    }

    /// What it is attached with.
    pub fn family(self) -> Family {
        FUNCTIONS.get(usize::from(self.0)).map_or(Family::Vm, |(_, family)| *family)
    }

    /// Whether its first argument is the thread's `JNIEnv*`: not so of those that get the JVM itself.
    pub fn has_env(self) -> bool {
        !WITHOUT_ENV.contains(&self.name())
    }

    /// The function that closes the critical section which this one opens.
    pub fn closed_by(self) -> Option<Self> {
        SECTIONS.iter().find(|(opens, _)| *opens == self.name()).and_then(|(_, closes)| Self::named(closes))
    }

    /// The function that opens the critical section which this one closes.
    pub fn opened_by(self) -> Option<Self> {
        SECTIONS.iter().find(|(_, closes)| *closes == self.name()).and_then(|(opens, _)| Self::named(opens))
    }
}

/// Functions of the JVM, not of a thread.
const WITHOUT_ENV: [&str; 8] = [
    "AttachCurrentThread",
    "AttachCurrentThreadAsDaemon",
    "CreateJavaVM",
    "DestroyJavaVM",
    "DetachCurrentThread",
    "GetCreatedJavaVMs",
    "GetDefaultJavaVMInitArgs",
    "GetEnv",
];

/// What opens critical sections, and what closes them.
const SECTIONS: [(&str, &str); 2] =
    [("GetPrimitiveArrayCritical", "ReleasePrimitiveArrayCritical"), ("GetStringCritical", "ReleaseStringCritical")];

/// Names and families.
const FUNCTIONS: &[(&str, Family)] = &[
    ("AllocObject", Family::Calls),
    ("AttachCurrentThread", Family::Vm),
    ("AttachCurrentThreadAsDaemon", Family::Vm),
    ("CallBooleanMethod", Family::Calls),
    ("CallBooleanMethodA", Family::Calls),
    ("CallBooleanMethodV", Family::Calls),
    ("CallByteMethod", Family::Calls),
    ("CallByteMethodA", Family::Calls),
    ("CallByteMethodV", Family::Calls),
    ("CallCharMethod", Family::Calls),
    ("CallCharMethodA", Family::Calls),
    ("CallCharMethodV", Family::Calls),
    ("CallDoubleMethod", Family::Calls),
    ("CallDoubleMethodA", Family::Calls),
    ("CallDoubleMethodV", Family::Calls),
    ("CallFloatMethod", Family::Calls),
    ("CallFloatMethodA", Family::Calls),
    ("CallFloatMethodV", Family::Calls),
    ("CallIntMethod", Family::Calls),
    ("CallIntMethodA", Family::Calls),
    ("CallIntMethodV", Family::Calls),
    ("CallLongMethod", Family::Calls),
    ("CallLongMethodA", Family::Calls),
    ("CallLongMethodV", Family::Calls),
    ("CallNonvirtualBooleanMethod", Family::Calls),
    ("CallNonvirtualBooleanMethodA", Family::Calls),
    ("CallNonvirtualBooleanMethodV", Family::Calls),
    ("CallNonvirtualByteMethod", Family::Calls),
    ("CallNonvirtualByteMethodA", Family::Calls),
    ("CallNonvirtualByteMethodV", Family::Calls),
    ("CallNonvirtualCharMethod", Family::Calls),
    ("CallNonvirtualCharMethodA", Family::Calls),
    ("CallNonvirtualCharMethodV", Family::Calls),
    ("CallNonvirtualDoubleMethod", Family::Calls),
    ("CallNonvirtualDoubleMethodA", Family::Calls),
    ("CallNonvirtualDoubleMethodV", Family::Calls),
    ("CallNonvirtualFloatMethod", Family::Calls),
    ("CallNonvirtualFloatMethodA", Family::Calls),
    ("CallNonvirtualFloatMethodV", Family::Calls),
    ("CallNonvirtualIntMethod", Family::Calls),
    ("CallNonvirtualIntMethodA", Family::Calls),
    ("CallNonvirtualIntMethodV", Family::Calls),
    ("CallNonvirtualLongMethod", Family::Calls),
    ("CallNonvirtualLongMethodA", Family::Calls),
    ("CallNonvirtualLongMethodV", Family::Calls),
    ("CallNonvirtualObjectMethod", Family::Calls),
    ("CallNonvirtualObjectMethodA", Family::Calls),
    ("CallNonvirtualObjectMethodV", Family::Calls),
    ("CallNonvirtualShortMethod", Family::Calls),
    ("CallNonvirtualShortMethodA", Family::Calls),
    ("CallNonvirtualShortMethodV", Family::Calls),
    ("CallNonvirtualVoidMethod", Family::Calls),
    ("CallNonvirtualVoidMethodA", Family::Calls),
    ("CallNonvirtualVoidMethodV", Family::Calls),
    ("CallObjectMethod", Family::Calls),
    ("CallObjectMethodA", Family::Calls),
    ("CallObjectMethodV", Family::Calls),
    ("CallShortMethod", Family::Calls),
    ("CallShortMethodA", Family::Calls),
    ("CallShortMethodV", Family::Calls),
    ("CallStaticBooleanMethod", Family::Calls),
    ("CallStaticBooleanMethodA", Family::Calls),
    ("CallStaticBooleanMethodV", Family::Calls),
    ("CallStaticByteMethod", Family::Calls),
    ("CallStaticByteMethodA", Family::Calls),
    ("CallStaticByteMethodV", Family::Calls),
    ("CallStaticCharMethod", Family::Calls),
    ("CallStaticCharMethodA", Family::Calls),
    ("CallStaticCharMethodV", Family::Calls),
    ("CallStaticDoubleMethod", Family::Calls),
    ("CallStaticDoubleMethodA", Family::Calls),
    ("CallStaticDoubleMethodV", Family::Calls),
    ("CallStaticFloatMethod", Family::Calls),
    ("CallStaticFloatMethodA", Family::Calls),
    ("CallStaticFloatMethodV", Family::Calls),
    ("CallStaticIntMethod", Family::Calls),
    ("CallStaticIntMethodA", Family::Calls),
    ("CallStaticIntMethodV", Family::Calls),
    ("CallStaticLongMethod", Family::Calls),
    ("CallStaticLongMethodA", Family::Calls),
    ("CallStaticLongMethodV", Family::Calls),
    ("CallStaticObjectMethod", Family::Calls),
    ("CallStaticObjectMethodA", Family::Calls),
    ("CallStaticObjectMethodV", Family::Calls),
    ("CallStaticShortMethod", Family::Calls),
    ("CallStaticShortMethodA", Family::Calls),
    ("CallStaticShortMethodV", Family::Calls),
    ("CallStaticVoidMethod", Family::Calls),
    ("CallStaticVoidMethodA", Family::Calls),
    ("CallStaticVoidMethodV", Family::Calls),
    ("CallVoidMethod", Family::Calls),
    ("CallVoidMethodA", Family::Calls),
    ("CallVoidMethodV", Family::Calls),
    ("CreateJavaVM", Family::Vm),
    ("DefineClass", Family::Classes),
    ("DeleteGlobalRef", Family::References),
    ("DeleteLocalRef", Family::References),
    ("DeleteWeakGlobalRef", Family::References),
    ("DestroyJavaVM", Family::Vm),
    ("DetachCurrentThread", Family::Vm),
    ("EnsureLocalCapacity", Family::References),
    ("ExceptionCheck", Family::Exceptions),
    ("ExceptionClear", Family::Exceptions),
    ("ExceptionDescribe", Family::Exceptions),
    ("ExceptionOccurred", Family::Exceptions),
    ("FatalError", Family::Exceptions),
    ("FindClass", Family::Classes),
    ("FromReflectedField", Family::Classes),
    ("FromReflectedMethod", Family::Classes),
    ("GetArrayLength", Family::Arrays),
    ("GetBooleanArrayElements", Family::Arrays),
    ("GetBooleanArrayRegion", Family::Arrays),
    ("GetBooleanField", Family::Fields),
    ("GetByteArrayElements", Family::Arrays),
    ("GetByteArrayRegion", Family::Arrays),
    ("GetByteField", Family::Fields),
    ("GetCharArrayElements", Family::Arrays),
    ("GetCharArrayRegion", Family::Arrays),
    ("GetCharField", Family::Fields),
    ("GetCreatedJavaVMs", Family::Vm),
    ("GetDefaultJavaVMInitArgs", Family::Vm),
    ("GetDirectBufferAddress", Family::Arrays),
    ("GetDirectBufferCapacity", Family::Arrays),
    ("GetDoubleArrayElements", Family::Arrays),
    ("GetDoubleArrayRegion", Family::Arrays),
    ("GetDoubleField", Family::Fields),
    ("GetEnv", Family::Vm),
    ("GetFieldID", Family::Classes),
    ("GetFloatArrayElements", Family::Arrays),
    ("GetFloatArrayRegion", Family::Arrays),
    ("GetFloatField", Family::Fields),
    ("GetIntArrayElements", Family::Arrays),
    ("GetIntArrayRegion", Family::Arrays),
    ("GetIntField", Family::Fields),
    ("GetJavaVM", Family::Vm),
    ("GetLongArrayElements", Family::Arrays),
    ("GetLongArrayRegion", Family::Arrays),
    ("GetLongField", Family::Fields),
    ("GetMethodID", Family::Classes),
    ("GetObjectArrayElement", Family::Arrays),
    ("GetObjectClass", Family::Classes),
    ("GetObjectField", Family::Fields),
    ("GetObjectRefType", Family::References),
    ("GetPrimitiveArrayCritical", Family::Critical),
    ("GetShortArrayElements", Family::Arrays),
    ("GetShortArrayRegion", Family::Arrays),
    ("GetShortField", Family::Fields),
    ("GetStaticBooleanField", Family::Fields),
    ("GetStaticByteField", Family::Fields),
    ("GetStaticCharField", Family::Fields),
    ("GetStaticDoubleField", Family::Fields),
    ("GetStaticFieldID", Family::Classes),
    ("GetStaticFloatField", Family::Fields),
    ("GetStaticIntField", Family::Fields),
    ("GetStaticLongField", Family::Fields),
    ("GetStaticMethodID", Family::Classes),
    ("GetStaticObjectField", Family::Fields),
    ("GetStaticShortField", Family::Fields),
    ("GetStringChars", Family::Strings),
    ("GetStringCritical", Family::Critical),
    ("GetStringLength", Family::Strings),
    ("GetStringRegion", Family::Strings),
    ("GetStringUTFChars", Family::Strings),
    ("GetStringUTFLength", Family::Strings),
    ("GetStringUTFLengthAsLong", Family::Strings),
    ("GetStringUTFRegion", Family::Strings),
    ("GetSuperclass", Family::Classes),
    ("GetVersion", Family::Vm),
    ("IsAssignableFrom", Family::Classes),
    ("IsInstanceOf", Family::Classes),
    ("IsSameObject", Family::References),
    ("MonitorEnter", Family::Vm),
    ("MonitorExit", Family::Vm),
    ("NewBooleanArray", Family::Arrays),
    ("NewByteArray", Family::Arrays),
    ("NewCharArray", Family::Arrays),
    ("NewDirectByteBuffer", Family::Arrays),
    ("NewDoubleArray", Family::Arrays),
    ("NewFloatArray", Family::Arrays),
    ("NewGlobalRef", Family::References),
    ("NewIntArray", Family::Arrays),
    ("NewLocalRef", Family::References),
    ("NewLongArray", Family::Arrays),
    ("NewObject", Family::Calls),
    ("NewObjectA", Family::Calls),
    ("NewObjectArray", Family::Arrays),
    ("NewObjectV", Family::Calls),
    ("NewShortArray", Family::Arrays),
    ("NewString", Family::Strings),
    ("NewStringUTF", Family::Strings),
    ("NewWeakGlobalRef", Family::References),
    ("PopLocalFrame", Family::References),
    ("PushLocalFrame", Family::References),
    ("RegisterNatives", Family::Classes),
    ("ReleaseBooleanArrayElements", Family::Arrays),
    ("ReleaseByteArrayElements", Family::Arrays),
    ("ReleaseCharArrayElements", Family::Arrays),
    ("ReleaseDoubleArrayElements", Family::Arrays),
    ("ReleaseFloatArrayElements", Family::Arrays),
    ("ReleaseIntArrayElements", Family::Arrays),
    ("ReleaseLongArrayElements", Family::Arrays),
    ("ReleasePrimitiveArrayCritical", Family::Critical),
    ("ReleaseShortArrayElements", Family::Arrays),
    ("ReleaseStringChars", Family::Strings),
    ("ReleaseStringCritical", Family::Critical),
    ("ReleaseStringUTFChars", Family::Strings),
    ("SetBooleanArrayRegion", Family::Arrays),
    ("SetBooleanField", Family::Fields),
    ("SetByteArrayRegion", Family::Arrays),
    ("SetByteField", Family::Fields),
    ("SetCharArrayRegion", Family::Arrays),
    ("SetCharField", Family::Fields),
    ("SetDoubleArrayRegion", Family::Arrays),
    ("SetDoubleField", Family::Fields),
    ("SetFloatArrayRegion", Family::Arrays),
    ("SetFloatField", Family::Fields),
    ("SetIntArrayRegion", Family::Arrays),
    ("SetIntField", Family::Fields),
    ("SetLongArrayRegion", Family::Arrays),
    ("SetLongField", Family::Fields),
    ("SetObjectArrayElement", Family::Arrays),
    ("SetObjectField", Family::Fields),
    ("SetShortArrayRegion", Family::Arrays),
    ("SetShortField", Family::Fields),
    ("SetStaticBooleanField", Family::Fields),
    ("SetStaticByteField", Family::Fields),
    ("SetStaticCharField", Family::Fields),
    ("SetStaticDoubleField", Family::Fields),
    ("SetStaticFloatField", Family::Fields),
    ("SetStaticIntField", Family::Fields),
    ("SetStaticLongField", Family::Fields),
    ("SetStaticObjectField", Family::Fields),
    ("SetStaticShortField", Family::Fields),
    ("Throw", Family::Exceptions),
    ("ThrowNew", Family::Exceptions),
    ("ToReflectedField", Family::Classes),
    ("ToReflectedMethod", Family::Classes),
    ("UnregisterNatives", Family::Classes),
];

const _: () = assert!(FUNCTIONS.len() <= tracer_common::jni::MAX_FUNCTIONS);
const _: () = assert!(Family::ALL.len() <= tracer_common::jni::MAX_FAMILIES);

#[cfg(test)]
mod tests;
